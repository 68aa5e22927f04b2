import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publish } from '#test/support/access/people.ts';
import { runShell } from '#test/support/programs/shell.ts';
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

const blocks = codeBlocks('docs/following-runs.md').filter(({ info }) => info === 'sh following');
/** The blocks with the loops, as they are pasted. */
const loopsAt = (url: string) =>
  blocks
    .slice(0, 2)
    .map(({ text }) => text)
    .join('')
    .replaceAll('http://127.0.0.1:8080', url);

const parse = (lines: string) =>
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the commands that find and follow runs', () => {
  it.each(['sh', 'bash'])('print what the page says, and each event and log entry once, in %s', async (shell) => {
    const input = blocks
      .map(({ text }) => text.replaceAll(/^ask -N/gm, `echo '--'; ask -N`))
      .join("echo '=='\n")
      .replaceAll('http://127.0.0.1:8080', system.url);
    const { code, output, errors } = await runShell(['-eu'], environment, { shell, input });
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const [
      polled = '',
      waited,
      settled,
      streams = '',
      searched = '',
      lines = '',
      found = '',
      comments = '',
      copied = '',
    ] = output.split('==\n');
    const [, stream = '', resumed = ''] = streams.split('--\n');

    const [first, rest, ...pages] = parse(polled);
    expect(first.events.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1]);
    expect(rest.events[0]?.sequence ?? 2).toBe(2);
    const sequences = pages.flatMap(({ entries }) => entries.map(({ sequence }: { sequence: number }) => sequence));
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    expect(pages.at(-1)).toMatchObject({ complete: true });
    expect(JSON.stringify(pages)).toMatch(/step one.*step two/);

    expect(waited).toMatch(/^revision \d+: succeeded$/m);
    expect(settled).toMatch(/^"status":"succeeded"$/m);

    expect(stream).toMatch(/^id: 1\nevent: log$/m);
    expect(resumed).not.toMatch(/^id: 1$/m);
    expect(resumed).toMatch(/^id: 2\nevent: log$/m);
    for (const each of [stream, resumed]) {
      expect(each).toMatch(/^event: event\ndata: .*"type":"run.admitted"/m);
      expect(each).toMatch(/^event: end\ndata: {"status":"succeeded"}$/m);
    }

    const [{ entries }] = parse(searched);
    expect(entries.map(({ text }: { text: string }) => text).join('')).toMatch(/step (one|two)/);
    const [last, matches] = parse(lines);
    expect(last).toMatchObject({ total: last.to, lines: [{ number: last.total, text: expect.any(String) }] });
    expect(matches).toMatchObject({ numbers: [expect.any(Number), expect.any(Number)], next: null });
    const [list, waiting, statistics, inbox] = parse(found);
    expect(list.runs.at(-1)).toMatchObject({ id: environment.RUN, status: 'succeeded' });
    expect(waiting).toEqual({ runs: [], next_cursor: null, scope: 'readable' });
    expect(statistics.total).toMatchObject({ succeeded: 1, unfinished: 0 });
    expect(inbox).toEqual({ approvals: [], next_cursor: null });

    const [comment, listed] = parse(comments);
    expect(listed.comments[0]).toEqual(comment);
    expect(parse(copied)).toMatchObject([{ operation: 'plan', requeued_from: environment.RUN }]);
  });

  it.each(['sh', 'bash'])('continue where they were after requests fail, in %s', async (shell) => {
    const proxy = await startFailingProxy(system.url);
    const { code, output, errors } = await runShell(['-eu'], environment, { shell, input: loopsAt(proxy.url) });
    proxy.close();
    expect(code, errors).toBe(0);
    expect(proxy.failed).toEqual(['logs?after=0', 'logs?after=0', '?wait=30s&revision=1', '?wait=30s&revision=1']);
    expect(output).toMatch(/"complete":true/);
    expect(output).toMatch(/^revision \d+: succeeded$/m);
  });

  it.each([
    [401, { TOKEN: 'none' }],
    [404, { RUN: '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11' }],
  ])('stop when they are refused with %i', async (status, wrong) => {
    const given = { ...environment, ...wrong };
    const { code, errors } = await runShell(['-u'], given, { input: loopsAt(system.url), withinMs: 20_000 });
    expect(code, errors).toBe(0);
    const refusals = errors.split('\n').filter((line) => line.startsWith('refused: '));
    expect(refusals.map((line) => Number(line.slice(-3)))).toEqual([status, status]);
  });
});

/** Passes requests on, but of each kind that a loop sends, answers the first one with 503 and ends the second one's connection. */
async function startFailingProxy(target: string): Promise<{ url: string; failed: string[]; close(): void }> {
  const failed: string[] = [];
  const server = createServer(async (request, response) => {
    const [, kind, rest = ''] = /(logs\?after=|\?wait=)(.*)/.exec(request.url ?? '') ?? [];
    const before = failed.filter((url) => kind !== undefined && url.startsWith(kind)).length;
    if (kind !== undefined && before < 2) {
      failed.push(kind + rest);
      if (before === 0) response.writeHead(503).end('{"error":"away"}');
      else request.socket.destroy();
      return;
    }
    const headers = { authorization: request.headers.authorization ?? '' };
    const answer = await fetch(new URL(request.url ?? '', target), { headers });
    response.writeHead(answer.status).end(await answer.text());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, failed, close: () => server.close() };
}
