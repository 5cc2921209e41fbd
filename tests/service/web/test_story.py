"""The whole story in a real browser: an owner, three judges, and what `ringtrue evaluate` makes of their answers.

Pictures of the pages are left in build/pictures/.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.servers import Serving
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import text

from browsers import comes_to, shows, take_picture, violations
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.inputs import pool
from ringtrue.files import write_table
from ringtrue.service.store import Store
from ringtrue.simulation import simulate_collection, simulate_texts

PICTURES = Path(__file__).parents[3] / "build" / "pictures"
PASSWORD = "four words of nonsense"
GRADES = ("Not relevant", "Weak", "Good", "Perfect")
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}
DEPTH, TRAPS = 4, 6
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("windows")]


class Story:
    """A server with a small collection to judge, and a browser to do it with."""

    def __init__(self, server: Serving, browser: Browser, folder: Path, database: str) -> None:
        self.server, self.browser, self.folder, self.database = server, browser, folder, database
        self.address = f"http://127.0.0.1:{server.port}"
        self.owned = False  # the owner has come in
        world = simulate_collection(rng=np.random.default_rng(0), queries=2)
        topics, documents = simulate_texts(world, rng=np.random.default_rng(1))
        self.labels = {(query, doc): label for query, doc, label in
                       world.gold.frame.select("query", "doc", "label").iter_rows()}  # fmt: skip
        self.world, self.documents = world, documents
        self.queries = dict(topics.select("title", "query").iter_rows())
        for run in world.runs:
            write_table(run, folder / f"{run.name}.run")
        write_table(topics, folder / "topics.csv")
        write_table(documents, folder / "documents.jsonl")
        shown = pool(world.runs, depth=DEPTH)
        unseen = [row for row in world.gold.frame.join(shown, on=["query", "doc"], how="anti", maintain_order="left")
                  .select("query", "doc", "label").iter_rows() if row[2] >= 2]  # fmt: skip
        lines = "".join(f"{query},{doc},{label}\n" for query, doc, label in unseen[-TRAPS:])
        (folder / "traps.csv").write_text("query,doc,label\n" + lines)
        self.runs = [str(folder / f"{run.name}.run") for run in world.runs]

    def visitor(self, *, viewport: dict[str, int] = DESKTOP, dark: bool = False, script: bool = True) -> Page:
        """Somebody with a browser of their own."""
        context = self.browser.new_context(
            base_url=self.address, viewport=viewport, color_scheme="dark" if dark else "light",  # type: ignore[arg-type]
            java_script_enabled=script, accept_downloads=True,
        )  # fmt: skip
        page = context.new_page()
        page.on("console", lambda said: pytest.fail(f"the browser says: {said.text}") if said.type == "error" else None)
        return page

    def let_leases_end(self) -> None:
        """As if an hour had passed for the tasks that are open."""
        with Store.open(self.database) as store:
            store.write(lambda c: c.execute(text("UPDATE task SET leased = leased - 7200 WHERE closed IS NULL")))

    def worth(self, page: Page, side: str = "first") -> int:
        """The true label of a document on the screen, as somebody knows who has read it."""
        query = self.queries[page.locator("h1").inner_text()]
        texts = self.documents.filter(text=page.locator(f"#{side} .plain").inner_text().strip())
        return next(max(self.labels[query, doc], 0) for doc in texts["doc"] if (query, doc) in self.labels)


@pytest.fixture(scope="module")
def story(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    folder = tmp_path_factory.mktemp("story")
    database = f"sqlite:///{folder / 'ringtrue.db'}"
    PICTURES.mkdir(parents=True, exist_ok=True)
    with Serving(database) as server:
        yield Story(server, browser, folder, database)


def seen(page: Page, name: str) -> None:
    """Take a picture of the page, and let axe look for what would shut somebody out."""
    take_picture(page, PICTURES / f"{name}.png")
    found = violations(page)
    assert not found, f"{name}: {found}"


def come_in(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Come in").click()
    comes_to(page, "Projects")


def test_from_the_first_link_to_the_measure(story: Story) -> None:
    owner = story.visitor()
    _the_owner_comes_in(story, owner)
    _a_project_is_made(story, owner)
    links = _judges_are_invited(owner, "Ann", "Ben", "Cem")
    ann, ben, cem = story.visitor(), story.visitor(viewport=PHONE, dark=True), story.visitor(script=False)
    for page, name in ((ann, "Ann"), (ben, "Ben"), (cem, "Cem")):
        come_in(page, links[name], name)
    _one_abandons(cem)
    _one_judges_by_keyboard(story, ann)
    _one_clicks_without_reading(ben)
    story.let_leases_end()
    _what_was_abandoned_is_given_out_again(story, ann)
    _the_owner_sees_who_fails_traps(owner)
    _the_export_is_read_by_evaluate(story, owner)


def _the_owner_comes_in(story: Story, owner: Page) -> None:
    assert story.server.process is not None
    assert story.server.process.stdout is not None
    said = b"".join(story.server.process.stdout.readline() for _ in range(3)).decode()
    link = re.search(r"http://\S+/welcome/\S+", said)
    assert link is not None, said
    owner.goto(link.group())
    seen(owner, "welcome")
    come_in(owner, link.group(), "Olga Owner")
    seen(owner, "no-projects-yet")
    story.owned = True


def _a_project_is_made(story: Story, owner: Page) -> None:
    owner.get_by_role("link", name="New project").click()
    owner.get_by_label("Title").fill("Shop search")
    owner.get_by_role("radio", name="Grades").check()
    owner.get_by_label("Names of the grades").fill("\n".join(GRADES))
    owner.locator("#ask").set_input_files(story.runs)
    owner.get_by_label("Depth of the pool").fill(str(DEPTH))
    owner.locator("#topics").set_input_files(story.folder / "topics.csv")
    owner.locator("#documents").set_input_files(story.folder / "documents.jsonl")
    owner.locator("#trap_file").set_input_files(story.folder / "traps.csv")
    owner.locator("summary", has_text="Settings:").click()
    owner.get_by_label("Judges for each item").fill("2")
    owner.get_by_label("Questions in a task").fill("8")
    owner.get_by_label("Traps in a task").fill("2")
    owner.locator("#traps_needed").fill("2")
    seen(owner, "new-project")
    owner.get_by_role("button", name="Make the project").click()
    comes_to(owner, "Progress")
    expect(owner.locator("body")).to_contain_text("Shop search")
    seen(owner, "project-made")


def _judges_are_invited(owner: Page, *names: str) -> dict[str, str]:
    owner.get_by_role("navigation", name="Pages of this project").get_by_role("link", name="People").click()
    comes_to(owner, "People")
    seen(owner, "people")
    owner.get_by_label("For whom").fill("\n".join(names))
    owner.get_by_role("button", name="Make links").click()
    comes_to(owner, "The links")
    seen(owner, "links")
    return {name: owner.locator("input[readonly]").nth(at).input_value() for at, name in enumerate(names)}


def begin(page: Page, name: str | None = None) -> None:
    """From the list of projects past the guidelines to the first question."""
    page.get_by_role("link", name="Judge", exact=True).click()
    expect(page.locator("main")).to_contain_text("A task has 8 questions")
    if name is not None:
        seen(page, name)
    page.get_by_role("button", name="Begin").click()


def _one_abandons(page: Page) -> None:
    """Without any script at all: one answer, and then never seen again."""
    begin(page)
    shows(page, "1 of 8")
    page.get_by_role("button", name="Weak").click()
    shows(page, "2 of 8")


def _one_judges_by_keyboard(story: Story, page: Page) -> None:
    begin(page, "start-desktop-light")
    shows(page, "1 of 8")
    seen(page, "judge-desktop-light")
    page.keyboard.press("3")
    shows(page, "2 of 8")
    page.keyboard.press("u")
    shows(page, "1 of 8")
    for at in range(1, 9):
        shows(page, f"{at} of 8")
        page.keyboard.press(str(story.worth(page)))
    comes_to(page, "All 8 answered")
    seen(page, "all-answered")
    page.get_by_role("button", name="Hand in").click()
    comes_to(page, "Thank you")


def _one_clicks_without_reading(page: Page) -> None:
    begin(page, "start-phone-dark")
    shows(page, "1 of 8")
    seen(page, "judge-phone-dark")
    for at in range(1, 9):
        shows(page, f"{at} of 8")
        page.get_by_role("button", name="Not relevant").click()
    page.get_by_role("button", name="Hand in").click()
    comes_to(page, "Thank you")
    seen(page, "thanks-phone-dark")


def _what_was_abandoned_is_given_out_again(story: Story, page: Page) -> None:
    """Ann goes on until nothing is left for her; Cem's open items are among what she gets."""
    _go_on(page)
    while page.locator("#far").count():
        size = int(page.locator("#far").inner_text().split()[-1])
        for at in range(1, size + 1):
            shows(page, f"{at} of {size}")
            page.keyboard.press(str(story.worth(page)))
        page.get_by_role("button", name="Hand in").click()
        comes_to(page, "Thank you")
        _go_on(page)
    seen(page, "nothing-left")
    with Store.open(story.database) as store, store.read() as connection:
        over = connection.execute(text("SELECT COUNT(*) FROM item WHERE given > wanted")).scalar_one()
        lost = connection.execute(
            text("""SELECT COUNT(*) FROM item i WHERE queue = 'main' AND NOT EXISTS (
                    SELECT 1 FROM assignment a JOIN account w ON w.id = a.account
                    WHERE a.item = i.id AND a.state = 'done' AND w.handle = 'ann')""")
        ).scalar_one()
    assert (over, lost) == (0, 0)


def _go_on(page: Page) -> None:
    """Look at the page of a judge, and begin a task where something is left."""
    page.goto("/p/shop-search/judge")
    if page.get_by_role("button", name="Begin").count():
        page.get_by_role("button", name="Begin").click()
        shows(page, page.locator("#far").inner_text())


def _the_owner_sees_who_fails_traps(owner: Page) -> None:
    owner.goto("/p/shop-search")
    seen(owner, "progress")
    owner.get_by_role("navigation", name="Pages of this project").get_by_role("link", name="Quality").click()
    comes_to(owner, "Quality")
    failed = owner.locator("#failed tr", has_text="ben")  # Cem's one answer may have been to a trap, too
    expect(failed).to_contain_text("0 of 2")
    seen(owner, "quality")
    failed.get_by_role("button", name="Set aside").click()
    expect(failed).to_contain_text("set aside")


def _the_export_is_read_by_evaluate(story: Story, owner: Page) -> None:
    owner.get_by_role("navigation", name="Pages of this project").get_by_role("link", name="Export").click()
    comes_to(owner, "Export")
    seen(owner, "export")
    owner.get_by_label("Judge", exact=True).select_option("ann")
    with owner.expect_download() as download:
        owner.locator("button[formaction$='/exports/qrels']").click()
    taken = story.folder / "collected.qrels"
    download.value.save_as(taken)
    found = {(line.split()[0], line.split()[2]): int(line.split()[3]) for line in taken.read_text().splitlines()}
    assert found == {key: max(story.labels[key], 0) for key in found}
    measure = f"P(rel=2)@{DEPTH}"
    said = _ringtrue("evaluate", *story.runs, "--judgments", str(taken), "-m", measure, "--json")
    means = evaluate(story.world.runs, story.world.gold, measure).means()
    expected = {run: values[measure].value for run, values in means.items()}
    assert {run: values[measure]["value"] for run, values in said["runs"].items()} == pytest.approx(expected)


def _ringtrue(*words: str) -> dict[str, Any]:
    command = [str(Path(sys.executable).parent / "ringtrue"), *words]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    answer: dict[str, Any] = json.loads(said.stdout)
    return answer


def test_two_side_by_side_by_arrow_keys_until_documents_can_be_rated(story: Story) -> None:
    if not story.owned:
        _the_owner_comes_in(story, story.visitor())
    owner = story.visitor()
    owner.goto("/login")
    owner.get_by_label("Log-in name").fill("olga-owner")
    owner.get_by_label("Password").fill(PASSWORD)
    owner.get_by_role("button", name="Log in").click()
    comes_to(owner, "Projects")
    _a_project_of_pairs_is_made(story, owner)
    owner.goto("/p/pairs/people")
    owner.get_by_role("button", name="Judge here myself").click()
    expect(owner.get_by_role("button", name="Judge here myself")).to_have_count(0)
    owner.goto("/p/pairs/judge")
    owner.get_by_role("button", name="Begin").click()
    shows(owner, "1 of 10")
    seen(owner, "pair-desktop-light")
    for at in range(1, 11):
        shows(owner, f"{at} of 10")
        left, right = (story.worth(owner, side) for side in ("first", "second"))
        owner.keyboard.press("ArrowLeft" if left > right else "ArrowRight" if right > left else "3" if left else "4")
    owner.get_by_role("button", name="Hand in").click()
    comes_to(owner, "Thank you")
    owner.goto("/p/pairs/exports")
    with owner.expect_download() as download:
        owner.locator("button[formaction$='/exports/csv']").click()
    taken = story.folder / "preferences.csv"
    download.value.save_as(taken)
    said = _ringtrue("rate", str(taken), "--json")
    assert said["votes"] == 10


def _a_project_of_pairs_is_made(story: Story, owner: Page) -> None:
    owner.goto("/projects/new")
    owner.get_by_label("Title").fill("Pairs")
    owner.get_by_label("Two side by side").check()
    owner.locator("#ask").set_input_files(story.runs)
    owner.get_by_label("Depth of the pool").fill(str(DEPTH))
    owner.locator("#topics").set_input_files(story.folder / "topics.csv")
    owner.locator("#documents").set_input_files(story.folder / "documents.jsonl")
    owner.locator("summary", has_text="Settings:").click()
    owner.get_by_label("Questions in a task").fill("10")
    owner.locator("#active").check()
    owner.get_by_role("button", name="Make the project").click()
    comes_to(owner, "Progress")
    expect(owner.locator("body")).to_contain_text("Pairs")
