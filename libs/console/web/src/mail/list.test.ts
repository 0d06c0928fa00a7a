import { beforeEach, describe, expect, it, vi } from "vitest";

import { api } from "../api/client";
import { MessageList, type Summary } from "./list.svelte";
import { NOTHING } from "./search";

vi.mock("../api/client", () => ({
  api: { GET: vi.fn() },
  body: async (answer: Promise<unknown>) => answer,
}));

type Page = { messages: Summary[]; total: number };

/** Answers that are under way, each to be given when a test wants it. */
let answers: ((page: Page) => void)[];
let list: MessageList;

function message(number: number, isRead = false): Summary {
  const id = String(number);
  const envelope = { from: "app@example.com", to: [] };
  const nobody = { to: [], cc: [], bcc: [], subject: "" };
  return { id, receivedAt: id, isRead, envelope, ...nobody } as unknown as Summary;
}
function page(...messages: Summary[]): Page {
  return { messages, total: messages.length };
}
function shown(): string[] {
  return list.known().map(({ id, isRead }) => (isRead ? id : `${id}*`));
}

beforeEach(() => {
  answers = [];
  const ask = () => new Promise<Page>((resolve) => answers.push(resolve));
  vi.mocked(api.GET).mockImplementation(ask as never);
  list = new MessageList("inbox", NOTHING, () => new Set());
});

async function begin(...messages: Summary[]): Promise<void> {
  list.show(0, 1);
  answers.shift()?.(page(...messages));
  await vi.waitFor(() => expect(list.loaded).toBe(true));
}

describe("a list", () => {
  it("keeps what was marked while an answer from before that was under way", async () => {
    await begin(message(3), message(2), message(1));
    const refreshed = list.refresh();
    list.mark(true, new Set(["2"]));
    list.change(message(1, true));
    list.change(message(9));
    answers.shift()?.(page(message(3), message(2), message(1)));
    await refreshed;
    expect(shown()).toEqual(["3*", "2", "1"]);
  });

  it("takes over what an answer says that was asked for after a mark", async () => {
    await begin(message(2), message(1));
    list.mark(true);
    const refreshed = list.refresh();
    answers.shift()?.(page(message(2), message(1, true)));
    await refreshed;
    expect(shown()).toEqual(["2*", "1"]);
  });

  it("asks again where messages came meanwhile, and once more later where they never cease to", async () => {
    await begin(message(1));
    const refreshed = list.refresh();
    for (const number of [2, 3, 4]) {
      list.arrive(message(number));
      answers.shift()?.(page(message(1)));
      await vi.waitFor(() => expect(answers.length + Number(number === 4)).toBe(1));
    }
    await refreshed;
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    answers.shift()?.(page(message(4), message(3), message(2), message(1)));
    await vi.waitFor(() => expect(shown()).toEqual(["4*", "3*", "2*", "1*"]));
  });

  it("does not take what was asked for before it was refreshed for new", async () => {
    list.show(0, 1);
    const refreshed = list.refresh();
    const [before, after] = answers.splice(0);
    after?.(page(message(2), message(1)));
    await refreshed;
    before?.(page(message(1)));
    await vi.waitFor(() => expect(answers).toHaveLength(1));
    answers.shift()?.(page(message(2), message(1)));
    await vi.waitFor(() => expect(shown()).toEqual(["2*", "1*"]));
  });

  it("looks for marks that nobody told of at all rows, once somebody looks at them", async () => {
    const many = Array.from({ length: 150 }, (_, at) => message(at));
    await begin(...many);
    const refreshed = list.refresh();
    answers.shift()?.({ messages: many.slice(0, 100), total: 150 });
    await refreshed;
    list.show(0, 20);
    expect(answers).toHaveLength(0);
    list.show(110, 130);
    list.show(111, 131);
    expect(answers).toHaveLength(1);
    const older = many.slice(100).map((row) => ({ ...row, isRead: true }));
    answers.shift()?.({ messages: older, total: 150 });
    await vi.waitFor(() => expect(shown().filter((id) => !id.endsWith("*"))).toHaveLength(50));
    list.show(110, 130);
    expect(answers).toHaveLength(0);
  });
});
