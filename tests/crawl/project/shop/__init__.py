"""An ordinary Scrapy project that has never heard of Weft."""
