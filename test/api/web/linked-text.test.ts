import { expect, it } from 'vitest';
import { renderLinkedText, withoutIds } from '#api/web/linked-text.ts';

const [one, other] = ['01a20897-0d6a-76bb-a6a0-427055f09c8b', '01a20897-10a0-77b8-a523-3ee7b4e59bbe'];

it('a message links each run and drift monitor that it names by id', () => {
  const text = renderLinkedText(`it waits for the run ${one} of the drift monitor ${other}: wait`).toString();
  expect(text).toBe(
    `it waits for <a href="/workloads/runs/${one}">another run</a> of the <a href="/drift/monitors/${other}">drift monitor</a>: wait`,
  );
  for (const begin of ['Run', 'The run'])
    expect(renderLinkedText(`${begin} ${one} ends`).toString()).toBe(
      `<a href="/workloads/runs/${one}">Another run</a> ends`,
    );
});

it('a message links each run of a list, and omits the list where links are impossible', () => {
  const list = `it has runs that have not ended: ${one}, ${other}; cancel them`;
  const link = (id: string | undefined, text: string) => `<a href="/workloads/runs/${id}">${text}</a>`;
  expect(renderLinkedText(list).toString()).toBe(
    `it has runs that have not ended: ${link(one, 'run 1')}, ${link(other, 'run 2')}; cancel them`,
  );
  expect(withoutIds(list)).toBe('it has runs that have not ended; cancel them');
  expect(withoutIds(`The run ${one} may change it`)).toBe('Another run may change it');
});

it('a message shows everything else as escaped text', () => {
  for (const text of ['', 'nothing is named', `the template ${one}`, 'the run 12', `overrun ${one}`])
    expect(renderLinkedText(text).toString()).toBe(text);
  expect(renderLinkedText(`<b> run ${one}`).toString()).toMatch(/^&lt;b&gt; <a href=/);
});
