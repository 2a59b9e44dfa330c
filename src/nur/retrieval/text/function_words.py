"""Function words of several languages (words that carry grammar rather than content), and a test for English.

Questions consist mostly of them, and their idf misleads: "what" is rare in text that states facts, and every word of a
Hindi question is rare in an English store. The lists are casefolded and spelt as people write to an agent, with and
without apostrophes. A word that is a common content word in another of these languages is left out: Hindi "the", "tab"
and "kam", Norwegian "men", Danish "dig", Swedish "kunde".
"""

from __future__ import annotations

import regex

_ENGLISH = """
a about after again all also am an and any are as at be because been before being between both but by can could did do
does doing done down during each few for from further had has have having he her here hers him his how i if in into is
it its itself just ll me might more most must my myself no nor not of off on once one only or other our ours out over
own re same shall she should so some such than that the their theirs them then there these they this those through to
too under up us ve very was we were what when where which while who whom whose why will with would you your yours
yourself whats what's who's whos when's where's how's i'm i've i'd i'll it's that's there's don't didn't doesn't isn't
wasn't remind tell please ever anything something someone anyone everything say said get got
"""
_FRENCH = """
le la les un une des du de d l et ou où que qui quoi quel quelle quels quelles est ce cet cette ces je j tu il elle on
nous vous ils elles m te t se s mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs au aux en
dans par pour
sur sous avec sans ne n pas plus ai as a avons avez ont été être avoir fait faire y comment quand combien
pourquoi c qu
lui si mais donc dont était étais étaient sont suis es sommes êtes sera seront serait avait avais avaient aura eu cela
ça ceci celui celle ceux celles moi toi eux chez entre vers jusqu jusque depuis pendant avant après déjà
encore toujours
jamais rien tout tous toute toutes très trop aussi bien puis alors ainsi comme ni lorsque quelque quelques chaque
même mêmes autre autres peut peux pouvez peuvent doit dois doivent faut va vais vont là ici lequel laquelle lesquels
lesquelles parce puisque aujourd hui
"""
_GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder aber ist sind bist waren wird werden wurde
wurden wie wer wen wem wo wann warum wieso was welche welcher welches welchen welchem ich du er sie es wir
ihr mich mir
dich dir ihn ihm uns euch mein meine meinen meinem meiner dein deine sein seine seinen unser unsere nicht kein keine
keinen mit von vom zu zum zur bei beim auf aus nach vor für über unter durch gegen ohne um seit wegen während im am
ins auch noch nur schon sehr so als ob dass wenn weil denn doch habe hast haben hatte hatten kann können könnte muss
müssen soll sollte will wollen darf sich dieser diese dieses diesen da dort wieviel
"""
_SPANISH_AND_PORTUGUESE = """
el los las una unos unas y o pero del al con sin para por en se su sus mi mis tu nos lo le les me te que qué quién
quien quiénes cuál cual cuáles cuándo cuando dónde donde cómo como cuánto cuánta cuántos cuántas porqué es son eran
fue fueron ser está están estaba he ha han había hay tengo tiene no ni más muy ya también este esta estos
estas ese esa
eso esto aquel desde hasta entre sobre
os as um uma uns umas e ou mas não do da dos das ao aos à às pelo pela com sem meu minha meus minhas teu tua
seu sua nosso
nossa eu ele ela nós eles elas quem qual quais quando onde quanto quanta quantos quantas porque porquê foi foram são
está estão tem têm tinha há já mais muito também isso isto este esta esse essa até no na nos nas num numa
"""
_ITALIAN = """
il lo gli uno della dello dei degli delle dal dalla nel nella nei sul sulla con per tra fra che chi cosa quale quali
quando perché quanto quanta quanti quante è sono erano sia stato stata ho hai ha abbiamo avete hanno io
tu lui lei noi voi loro mi ti ci vi mio mia miei mie tuo tua suo sua nostro nostra non più anche ma se questo questa
questi quello quella
"""
_DUTCH = """
de het een en of maar is zijn was waren wordt wat wie waar wanneer waarom hoe welke welk ik jij je hij zij ze wij we
jullie mij me jou haar ons hun mijn jouw zijn onze niet geen met voor door naar bij uit op aan om tot te dat dit
deze die er ook nog al heb hebt heeft hebben had hadden kan kunnen moet moeten zal zou hoeveel
"""
_SCANDINAVIAN = """
og på det er som til av med den har jeg hva hvem hvor når hvilket hvilken hvilke ikke vi min mitt mine du han
hun de dem
meg deg seg oss dere en et ei å i om for fra ved var være vært skal skulle kan kunne må vil bli blir ble eller
så da hvis hvordan hvorfor dette disse noe noen sin sitt sine vår vårt våre din ditt dine før etter uten hos også
enn mye hvert
och att jag vad vem var när vilken vilket vilka inte är ett från till av hur varför han hon det denna detta dessa mig
sig vår våra om eller ska skulle kan måste efter före hvad hvornår hvilke
opp upp hadde burde bør måtte ikkje dei mellom mellem gjennom siden fordi selv hver ingen ingenting henne hennes deres
denne nå alle omkring altså derfor likevel kanskje allerede ennå både enten verken sånn dersom få får fikk fått blitt
gjør gjøre gjorde gjort af været blive bliver blev blevet uden vores noget nogen nogle meget ind hende hendes jer
hvorhen skall vill fick bör hade varit blivit utan över mellan innan då där här också även mycket varje många någon
något några inget alla allt eftersom därför kanske redan ännu gör göra finns fanns honom deras sina
"""
_POLISH = """
w we na z ze się jest są co kto kogo komu gdzie kiedy jak ile czy o że i a lub albo do od po za przez dla przy przed
nad nie to ta te tego tej tym tych jaki jaka jakie który która które którego której być był była było były będzie
ja ty on ona my wy mnie mi mam ma mój moja moje mojego twój jego jej ich nas nam ją im już jeszcze tylko też tak bo
żeby dlaczego czemu u
"""
_HINDI = """
ka ki ke ko hai hain kya kaun kab kahan kaha mein me aur ya tha thi hum mera meri mere ho hoon hun hua hui se
par pe bhi nahi nahin na kitna kitne kitni kis kisne kisko kiska kiski kiske kaise kyun kyu kyon kaunsa kaunsi konsa
raha rahi rahe karna karne karta karte karti kiya liye wala wali apna apni apne mujhe humne hume humein humara
humare hamara hamare maine tum tumne aap aapne aapka aapke woh wo yeh ye us usne uska uski uske iss isne iska
iski iske
toh agar phir abhi sab kuch koi gaya gayi gaye hota hoti hote diya diye tak ne
thoda thodi thode zyada jyada kaunse kaunsaa konsi konse jo jabki tabhi waise vaise aise aisa aisi jaise jaisa jaisi
kaisa kaisi chahiye chahie chaahiye chahte chahta chahti sakta sakti sakte saka saki sakega sakegi sakenge sakoge karo
karein karke kiye karunga karungi karega karegi karenge karoge karni krna krne hoga hogi honge hone hona honi wale
waale waali waala wahi yahi wohi sirf lekin magar kyunki kyonki kyuki kyoki isliye taaki bahut bohot bahot tumhara
tumhari tumhare tumhe tumhein tumko tera teri tere tujhe unka unki unke unko unhe unhone unhein inka inki inke inko
inhe inhone usko usse isse isko ismein isme usmein usme jiska jiski jiske jisne jisko jise sabse humse mujhse tumse
aapse aapki aapko humko mujhko hamari humari hamein rha rhi rhe nhi kahaan kidhar kuchh kisi kisika sabhi khud gya gyi
gye chuka chuki chuke rahega rahegi rahenge yahan yahaan yahin wahan wahaan wahin baare tarah bina kyonke kabse thaa
का की के को है हैं क्या कौन कब कहाँ कहां में मैं और या था थी थे हम मेरा मेरी मेरे हो हूँ हूं हुआ हुई हुए से
पर भी नहीं ना न कितना
कितने कितनी किस किसने किसको कैसे क्यों कौनसा रहा रही रहे कर करना करने किया लिए वाला वाली वाले अपना अपनी अपने
मुझे हमने मैंने तुम आप
वह वो यह ये उस उसने उसका इस इसका जो जब तब तो अगर फिर अभी सब कुछ कोई गया गई गए होता होती होते दिया तक ने एक
कौनसी कौनसे किसका किसकी किसके किसे किसी कैसा कैसी क्यूं क्योंकि इसलिए लेकिन मगर परंतु बल्कि ताकि जैसे जैसा जैसी वैसे
ऐसे ऐसा ऐसी चाहिए चाहिये सकता सकती सकते सका सके सकी सकेगा सकेंगे करो करें करके करूंगा करूँगा करूंगी करेगा करेगी करेंगे
करता करती करते करनी कीजिए होगा होगी होंगे होना होने होनी सिर्फ सिर्फ़ केवल बहुत उसकी उसके उसको उसे उनका उनकी उनके उनको
उन्हें उन्होंने इसकी इसके इसको इसे इनका इनकी इनके इन्हें इन्होंने तेरा तेरी तेरे तुम्हारा तुम्हारी तुम्हारे तुम्हें
तुझे तुमने आपका आपकी आपके आपको आपने हमारा हमारी हमारे हमें मुझसे जिसका जिसकी जिसके जिसने जिसे जिन वही यही यहां यहाँ
वहां वहाँ किए दिए गयी गये चुका चुकी चुके रहेगा रहेगी द्वारा बारे बिना सभी हर तरह तभी जबकि खुद
"""
_MARATHI = """
aahe ahe aahet ahet nahi nahit tula majha majhi majhe maza mazi maze tujha tujhi tuza amcha aamcha amchi aamchi tumcha
tumchi tyacha tyachi ticha tichi kay kuthe kadhi kiti kasa kashi kase ani aani hota hoti hote pahije mhanun sathi
madhe madhye
आहे आहेत नाही नाहीत मला तुला माझा माझी माझे तुझा तुझी तुझे माझ्या तुझ्या आमच्या तुमच्या त्याच्या आमचा आमची आमचे तुमचा
तुमची तुमचे त्याचा त्याची तिचा तिची काय कुठे कधी किती कसा कशी कसे आणि होता होती होते पाहिजे पण म्हणून साठी मध्ये तो ती
ते हा ही हे मी तू आम्ही तुम्ही की जे
"""
_URDU = """
کا کی کے کو ہے ہیں میں سے پر اور یا نے کیا کون کب کہاں کیوں کیسے کتنا کتنے کتنی کونسا تھا تھی تھے یہ وہ جو تو بھی نہیں
ہو ہوا ہوئی ہوئے ہوں گیا گئی گئے میرا میری میرے ہمارا ہماری ہمارے ہم آپ تم اس ان ایک تک لیے کر کرنا کرنے کرتا کرتی
کرتے رہا رہی رہے مجھے اسے انہیں اپنا اپنی اپنے والا والی والے لیکن اگر پھر جب تب کچھ کوئی سب گا گی گے ہوگا ہوگی چاہیے
"""
_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было вот от
меня еще ещё
нет о из ему когда даже ну ли если уже или ни быть был него до вас нибудь опять вам ведь там потом себя
ничего ей может
они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего кто этот эта это эти того потому этого какой
какая какие какое каких который которая которые которое сколько почему зачем мой моя мои наш наша под над при
после перед
между через об это
"""
_TURKISH = """
ve veya ile bir bu şu o ne kimi kimin nerede nereye nereden hangi nasıl neden niçin kaç mi mı mu mü de da için gibi
kadar daha en çok ama değil sen biz siz onlar benim senin onun bizim var yok olan olarak
"""

_BY_LANGUAGE = {
    "en": _ENGLISH,
    "fr": _FRENCH,
    "de": _GERMAN,
    "es": _SPANISH_AND_PORTUGUESE,
    "it": _ITALIAN,
    "nl": _DUTCH,
    "no": _SCANDINAVIAN,
    "pl": _POLISH,
    "hi": _HINDI,
    "mr": _MARATHI,
    "ur": _URDU,
    "ru": _RUSSIAN,
    "tr": _TURKISH,
}
LANGUAGES = {language: frozenset(words.split()) for language, words in _BY_LANGUAGE.items()}
"""The function words of each language; "es" is Spanish and Portuguese, "no" stands for Scandinavian ones."""

ENGLISH = LANGUAGES["en"]
FUNCTION_WORDS = frozenset().union(*LANGUAGES.values())
"""The function words of all these languages, English included."""

_WORD = regex.compile(r"\p{L}+")
#: Blanks instead of everything else: with the pattern, finding the words of English text takes six times as long.
_ASCII_LETTERS = bytes(code if chr(code).isalpha() else ord(" ") for code in range(128)).ljust(256)
_OTHERS = frozenset(word for word in FUNCTION_WORDS - ENGLISH if len(word) > 1)  # single letters also occur in codes
_OF_KNOWN = frozenset().union(*(LANGUAGES[one] for one in ("en", "fr", "de", "es", "it", "nl", "pl", "ru", "tr")))
_OF_UNKNOWN = (LANGUAGES["hi"] | LANGUAGES["no"]) - _OF_KNOWN
_LETTER = regex.compile(r"\p{L}")
_OF_UNKNOWN_SCRIPT = regex.compile(
    r"[^\P{L}\p{Latin}\p{Cyrillic}\p{Arabic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]"
)
_VIETNAMESE = regex.compile(r"[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", regex.IGNORECASE)
MIN_OF_UNKNOWN_SCRIPT, MIN_VIETNAMESE = 0.5, 0.05  #: shares of the letters


def is_english(text: str) -> bool:
    """Whether most function words of a text are English; if as many are not, whether it is plain ASCII."""
    is_ascii = text.isascii()
    letters = text.encode().translate(_ASCII_LETTERS).decode() if is_ascii else " ".join(_WORD.findall(text))
    words = letters.casefold().split()
    small_i = letters.split().count("i")  # "in" of Scandinavians, "and" of Poles
    english = sum(map(ENGLISH.__contains__, words)) - small_i
    others = sum(map(_OTHERS.__contains__, words))
    return english > others or (english == others and is_ascii)


def languages_of(text: str) -> list[str]:
    """The language that most function words of a text belong to, or several that have as many; see `LANGUAGES`."""
    words = _WORD.findall(text.casefold())
    counts = {language: sum(word in known for word in words) for language, known in LANGUAGES.items()}
    return [language for language, count in counts.items() if count == max(counts.values())]


def is_known(text: str) -> bool:
    """Whether the multilingual sentence model was trained on a text's language.

    It was on sixteen languages: not on Hindi, Scandinavian ones or Vietnamese, nor on any that is written in a script
    of its own, such as Greek.
    """
    letters = len(_LETTER.findall(text))
    if not text.isascii() and (
        len(_OF_UNKNOWN_SCRIPT.findall(text)) > MIN_OF_UNKNOWN_SCRIPT * letters
        or len(_VIETNAMESE.findall(text)) > MIN_VIETNAMESE * letters
    ):
        return False
    words = _WORD.findall(text.casefold())
    unknown = sum(word in _OF_UNKNOWN for word in words)
    return not unknown or unknown < sum(word in _OF_KNOWN for word in words)
