import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '#test/support/access/people.ts';
import { runShell } from '#test/support/shell.ts';
import { administrator, type System, startSystem } from '#test/support/system.ts';
import { codeBlocks } from './markdown.ts';

let system: System;
let environment: { TOKEN: string; RUN: string };
beforeAll(async () => {
  system = await startSystem();
  const { email, password } = administrator;
  const session = await system.administrator.post('/auth/sessions', { email, password });
  const steps = ['one', 'two'].map((name) => ({ name, run: ['sh', '-c', `echo step ${name}; sleep 1`] }));
  const template_id = await publish(system.administrator, { executor: { kind: 'command', apply: steps } });
  const run = await system.administrator.post('/runs', { template_id });
  environment = { TOKEN: session.body.token, RUN: run.body.id };
});
afterAll(() => system?.close());

const parse = (lines: string) =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the commands that find and follow runs', () => {
  it.each(['sh', 'bash'])('show what the page says, and each event and entry of the log once, in %s', async (shell) => {
    const blocks = codeBlocks('docs/following-runs.md').filter(({ info }) => info === 'sh following');
    const input = blocks
      .map(({ text }) => text.replaceAll(/^ask -N/gm, `echo '--'; ask -N`))
      .join("echo '=='\n")
      .replaceAll('http://127.0.0.1:8080', system.url);
    const { code, output, errors } = await runShell(['-eu'], environment, { shell, input });
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const [polled = '', waited, streams = '', searched = '', found = '', comments = '', copied = ''] =
      output.split('==\n');
    const [, stream = '', resumed = ''] = streams.split('--\n');

    const [first, rest, ...pages] = parse(polled);
    expect(first.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1]);
    expect(rest.events[0]?.sequence ?? 2).toBe(2);
    const sequences = pages.flatMap(({ entries }) => entries.map(({ sequence }: { sequence: number }) => sequence));
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    expect(pages.at(-1)).toMatchObject({ complete: true });
    expect(JSON.stringify(pages)).toMatch(/step one.*step two/);

    expect(waited).toMatch(/^revision \d+: succeeded$/m);

    expect(stream).toMatch(/^id: 1\nevent: log$/m);
    expect(resumed).not.toMatch(/^id: 1$/m);
    expect(resumed).toMatch(/^id: 2\nevent: log$/m);
    for (const each of [stream, resumed]) {
      expect(each).toMatch(/^event: event\ndata: .*"type":"run.admitted"/m);
      expect(each).toMatch(/^event: end\ndata: {"status":"succeeded"}$/m);
    }

    const [{ entries }] = parse(searched);
    expect(entries.map(({ text }: { text: string }) => text).join('')).toMatch(/step (one|two)/);
    const [list, statistics, inbox] = parse(found);
    expect(list.runs.at(-1)).toMatchObject({ id: environment.RUN, status: 'succeeded' });
    expect(statistics.total).toMatchObject({ succeeded: 1, unfinished: 0 });
    expect(inbox).toEqual({ approvals: [], next_cursor: null });

    const [comment, listed] = parse(comments);
    expect(listed.comments[0]).toEqual(comment);
    expect(parse(copied)).toMatchObject([{ operation: 'plan', requeued_from: environment.RUN }]);
  });
});
