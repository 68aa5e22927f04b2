import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeSecret, signedHeaders } from '#domain/shared/signing/signed-headers.ts';
import { findFreePort } from '#local/ports.ts';
import { addPerson, addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { type Endpoint, startEndpoint } from '#test/support/webhooks/endpoint.ts';
import { runBlocks } from './examples.ts';
import { codeBlocks } from './markdown.ts';

const file = 'docs/webhooks.md';
let api: TestApi;
let endpoint: Endpoint;
let receiver: ChildProcess | undefined;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  endpoint = await startEndpoint();
});
afterAll(async () => {
  receiver?.kill();
  await endpoint?.close();
  await api?.close();
});

it('the commands of the page about webhooks create a webhook, test it, rotate its secret and delete it', {
  timeout: 60_000,
}, async () => {
  const { teamId } = await addTeam(api.orm);
  const { key } = await addPerson(api, 'admin');
  const blocks = codeBlocks(file)
    .filter(({ info }) => info === 'sh webhooks')
    .map(({ text }) => text.replaceAll('http://127.0.0.1:8080', api.url))
    .map((text) => text.replaceAll('https://hooks.example.com/coordinator', endpoint.url));
  const [, tested = '', log = ''] = await runBlocks(blocks, { KEY: key ?? '', TEAM: teamId }, 50_000);
  expect(JSON.parse(tested)).toMatchObject({ ok: true, answer: { status: 204 } });
  expect(JSON.parse(log)).toEqual({ deliveries: [], next_cursor: null });
});

it('the receiver of docs/webhooks.md accepts only messages of the service', { timeout: 30_000 }, async () => {
  const [secret, port] = [makeSecret(), await findFreePort()];
  const program = join(mkdtempSync(join(tmpdir(), 'receiver-')), 'receiver.mjs');
  writeFileSync(program, codeBlocks(file).find(({ info }) => info === 'js receiver')?.text ?? '');
  // Node.js 20 has no Array.fromAsync.
  receiver = spawn(process.execPath, ['--import', 'data:text/javascript,delete Array.fromAsync', program], {
    env: { WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: 'ignore',
  });
  const send = (message: { id: string; timestamp: number; body: string }, by: string) =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: signedHeaders(message, [by]), body: message.body });
  const message = { id: 'msg_1', timestamp: Math.floor(Date.now() / 1000), body: '{"type":"run.finished"}' };
  await expect.poll(async () => (await send(message, secret)).status).toBe(204);
  expect((await send(message, makeSecret())).status).toBe(401);
  expect((await send({ ...message, timestamp: message.timestamp - 3600 }, secret)).status).toBe(401);
});
