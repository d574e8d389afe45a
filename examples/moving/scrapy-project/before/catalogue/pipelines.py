class PriceInYuan:
    """`¥1,024.50` becomes 1024.5."""

    def process_item(self, item):
        return item | {"price": float(item["price"].lstrip("¥").replace(",", ""))}
