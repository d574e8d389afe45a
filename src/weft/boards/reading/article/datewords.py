# ruff: noqa: E501, RUF001 (twelve months make a line, and other scripts are meant)
"""Names of months in the languages of the web, and offsets of named time zones."""

#: Twelve months a line. A name is found by its beginning, too, so abbreviations are not listed
#: unless they differ.
_LINES = """
january february march april may june july august september october november december
jan feb mar apr may jun jul aug sep oct nov dec
januar februar märz april mai juni juli august september oktober november dezember
jänner feber mrz apr mai jun jul aug sept okt nov dez
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
janv fevrier mars avr mai juin juil aout sept oct nov decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
ene feb mar abr may jun jul ago setiembre oct nov dic
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
jan fev marco abr mai jun jul ago set out nov dez
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
gen feb mar apr mag giu lug ago set ott nov dic
gener febrer març abril maig juny juliol agost setembre octubre novembre desembre
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
januari februari maart april mei juni juli augustus september oktober november december
jan feb mrt apr mei jun jul aug sep okt nov dec
januari februari mars april maj juni juli augusti september oktober november december
januar februar mars april mai juni juli august september oktober november desember
januar februar marts april maj juni juli august september oktober november december
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu
janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień
sty lut mar kwi maj cze lip sie wrz paź lis gru
ledna února března dubna května června července srpna září října listopadu prosince
leden únor březen duben květen červen červenec srpen září říjen listopad prosinec
januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra
január február március április május június július augusztus szeptember október november december
siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca
januara februara marta aprila maja juna jula avgusta septembra oktobra novembra decembra
januarja februarja marca aprila maja junija julija avgusta septembra oktobra novembra decembra
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
янв фев мар апр май июн июл авг сен окт ноя дек
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
студзеня лютага сакавіка красавіка мая чэрвеня ліпеня жніўня верасня кастрычніка лістапада снежня
януари февруари март април май юни юли август септември октомври ноември декември
јануар фебруар март април мај јун јул август септембар октобар новембар децембар
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
ιαν φεβ μαρ απρ μαϊ ιουν ιουλ αυγ σεπ οκτ νοε δεκ
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
yanvar fevral mart aprel may iyun iyul avqust sentyabr oktyabr noyabr dekabr
januari februari mac april mei jun julai ogos september oktober november disember
januari februari maret april mei juni juli agustus september oktober november desember
enero pebrero marso abril mayo hunyo hulyo agosto setyembre oktubre nobyembre disyembre
januari februari machi aprili mei juni julai agosti septemba oktoba novemba desemba
tháng1 tháng2 tháng3 tháng4 tháng5 tháng6 tháng7 tháng8 tháng9 tháng10 tháng11 tháng12
jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember
janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris decembris
janvārī februārī martā aprīlī maijā jūnijā jūlijā augustā septembrī oktobrī novembrī decembrī
sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio gruodžio
janar shkurt mars prill maj qershor korrik gusht shtator tetor nëntor dhjetor
יינואר פברואר מרץ אפריל מאי יוני יולי אוגוסט ספטמבר אוקטובר נובמבר דצמבר
ינואר בפברואר במרץ באפריל במאי ביוני ביולי באוגוסט בספטמבר באוקטובר בנובמבר בדצמבר
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
كانون٢ شباط آذار نيسان أيار حزيران تموز آب أيلول تشرين١ تشرين٢ كانون١
جانفي فيفري مارس أفريل ماي جوان جويلية أوت سبتمبر أكتوبر نوفمبر ديسمبر
ژانویه فوریه مارس آوریل مه ژوئن ژوئیه اوت سپتامبر اکتبر نوامبر دسامبر
जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितम्बर अक्तूबर नवम्बर दिसम्बर
জানুয়ারি ফেব্রুয়ারি মার্চ এপ্রিল মে জুন জুলাই আগস্ট সেপ্টেম্বর অক্টোবর নভেম্বর ডিসেম্বর
ஜனவரி பிப்ரவரி மார்ச் ஏப்ரல் மே ஜூன் ஜூலை ஆகஸ்ட் செப்டம்பர் அக்டோபர் நவம்பர் டிசம்பர்
มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม
ม.ค ก.พ มี.ค เม.ย พ.ค มิ.ย ก.ค ส.ค ก.ย ต.ค พ.ย ธ.ค
იანვარი თებერვალი მარტი აპრილი მაისი ივნისი ივლისი აგვისტო სექტემბერი ოქტომბერი ნოემბერი დეკემბერი
"""

#: Hours that are added to UTC where a zone is named. Only zones that mean one thing in the news.
ZONES = {
    "z": 0.0, "gmt": 0.0, "utc": 0.0, "bst": 1.0, "cet": 1.0, "cest": 2.0, "mez": 1.0, "mesz": 2.0,
    "eet": 2.0, "eest": 3.0, "msk": 3.0, "мск": 3.0, "ist": 5.5, "sgt": 8.0, "hkt": 8.0, "jst": 9.0,
    "kst": 9.0, "aest": 10.0, "aedt": 11.0, "est": -5.0, "edt": -4.0, "cdt": -5.0, "mst": -7.0,
    "mdt": -6.0, "pst": -8.0, "pdt": -7.0,
}  # fmt: skip

#: A shorter beginning of a name is no abbreviation.
MIN_ABBREVIATION = 3


def _table() -> dict[str, int]:
    """Names and their beginnings. A name that some language has in full is that month; a
    beginning that fits two months is none."""
    rows = [line.split() for line in _LINES.strip().splitlines()]
    names = {name: month for row in reversed(rows) for month, name in enumerate(row, 1)}
    short: dict[str, int] = {}
    for name, month in names.items():
        for end in range(MIN_ABBREVIATION, len(name)):
            start = name[:end]
            short[start] = month if short.get(start, month) == month else 0
    return {name: month for name, month in short.items() if month} | names


#: Lower-case name of a month -> its number.
MONTHS = _table()
