"""The light default finds English memories by questions in other languages, and the other way round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.acceptance.conftest import OpenDoor

ENGLISH = [
    "The rent of the apartment is paid on the fifth of every month.",
    "Grandmother takes her medicine after breakfast.",
    "The kitchen tap is leaking and the plumber comes on Wednesday.",
    "The dog is afraid of thunder.",
    "My brother teaches mathematics at a school.",
    "We sold the old car last year.",
    "Her wedding is in December.",
    "The neighbor complained about the noise at night.",
]
HINDI = [
    "Ghar ka kiraya har mahine ki paanch tareekh ko dete hain.",
    "Dadi nashte ke baad dawai leti hain.",
    "Rasoi ka nal tapak raha hai aur mistri budhwar ko aayega.",
    "Kutta badal garajne se darta hai.",
    "Mera bhai vidyalay mein ganit padhata hai.",
    "Humne purani gaadi pichle saal bech di.",
    "Uski shaadi sardiyon mein hogi.",
    "Padosi ne raat ko shor ki shikayat ki.",
]
DEVANAGARI = [
    "घर का किराया हर महीने की पाँच तारीख को देते हैं।",
    "दादी नाश्ते के बाद दवाई लेती हैं।",
    "रसोई का नल टपक रहा है और मिस्त्री बुधवार को आएगा।",
    "कुत्ता बादल गरजने से डरता है।",
    "मेरा भाई विद्यालय में गणित पढ़ाता है।",
    "हमने पुरानी गाड़ी पिछले साल बेच दी।",
    "उसकी शादी सर्दियों में होगी।",
    "पड़ोसी ने रात को शोर की शिकायत की।",
]
NORWEGIAN = [
    "Husleien betales den femte hver måned.",
    "Bestemor tar medisinen sin etter frokost.",
    "Kjøkkenkranen lekker, og rørleggeren kommer på onsdag.",
    "Hunden er redd for tordenvær.",
    "Broren min underviser i matematikk på en skole.",
    "Vi solgte den gamle bilen i fjor.",
    "Bryllupet hennes er i desember.",
    "Naboen klaget på støy om natten.",
]


TO_ENGLISH = {
    "kiraya kab dena hota hai": 0,
    "dadi dawai kab khaati hai": 1,
    "rasoi mein kya kharab hai": 2,
    "purani gaadi kab bechi": 5,
    "uski shaadi kab hai": 6,
    "किराया कब देना होता है": 0,
    "पड़ोसी ने किस बात की शिकायत की": 7,
    "Når betaler vi husleien?": 0,
    "Når tar bestemor medisinen sin?": 1,
    "Hvem er redd for tordenvær?": 3,
    "Hva underviser broren min i?": 4,
    "Hvem klaget på støyen?": 7,
}
FROM_ENGLISH = {
    "When do we pay the rent?": 0,
    "When does grandmother take her medicine?": 1,
    "What is leaking in the kitchen?": 2,
    "What is the dog afraid of?": 3,
    "What does my brother teach?": 4,
    "Who complained about the noise?": 7,
}


@pytest.mark.parametrize(
    ("memories", "questions"),
    [(ENGLISH, TO_ENGLISH), (HINDI, FROM_ENGLISH), (DEVANAGARI, FROM_ENGLISH), (NORWEGIAN, FROM_ENGLISH)],
)
async def test_a_memory_is_found_by_a_question_in_another_language(
    open_door: OpenDoor, memories: list[str], questions: dict[str, int]
) -> None:
    async with open_door(embeddings="local") as nur:
        for memory in memories:
            await nur.call("memory_store", content=memory, type="fact", confidence=0.9)
        answers = {question: await nur.data("memory_search", query=question, limit=3) for question in questions}
    found = {question: memories.index(answer["hits"][0]["snippet"]) for question, answer in answers.items()}
    assert found == questions
