import { expect, it } from 'vitest';
import { renderLinkedText } from '#api/web/linked-text.ts';

const [one, other] = ['01a20897-0d6a-76bb-a6a0-427055f09c8b', '01a20897-10a0-77b8-a523-3ee7b4e59bbe'];

it('links each run and drift monitor that a message names by its id', () => {
  const text = renderLinkedText(`the run ${one} waits for the drift monitor ${other}: wait`).toString();
  expect(text).toBe(
    `the <a href="/workloads/runs/${one}">run …f09c8b</a> waits for the <a href="/drift/monitors/${other}">drift monitor …e59bbe</a>: wait`,
  );
});

it('shows everything else as text, whatever it contains', () => {
  for (const text of ['', 'nothing is named', `the template ${one}`, 'the run 12', `overrun ${one}`])
    expect(renderLinkedText(text).toString()).toBe(text);
  expect(renderLinkedText(`<b> run ${one}`).toString()).toMatch(/^&lt;b&gt; <a href=/);
});
