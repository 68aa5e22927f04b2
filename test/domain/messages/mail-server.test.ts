import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type MailConfig, MailServer } from '#domain/messages/mail/mail-server.ts';
import { parseOutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { startMailServer } from '#test/support/messages/mail-server.ts';

/** The mail servers that get mails, and the errors of those that do not. */
const mail = { id: 'm1', to: ['a@example.com'], subject: 'Hello', text: 'Hello.\n', html: '<p>Hello.</p>' };
const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function open(url: string, allowed: string[], more: Partial<MailConfig> = {}, resolve?: () => Promise<string[]>) {
  const from = { name: 'Delivery', address: 'delivery@example.com' };
  const config = { url, account: null, from, linkOrigin: 'https://delivery.example.com', ...more };
  return new MailServer(config, parseOutboundPolicy(allowed), { timeoutMs: 1_500, ...(resolve && { resolve }) });
}

async function start(options = {}) {
  const server = await startMailServer(options);
  closing.push(() => server.close());
  return server;
}

describe('a mail server', () => {
  it('a mail server that is allowed by its address gets mail without TLS', async () => {
    const { url, received } = await start();
    await open(url, ['127.0.0.1']).send(mail);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ subject: 'Hello', messageId: '<m1@delivery.example.com>', isEncrypted: false });
  });

  it('a mail server on the private network is refused, also under a name that leads there', async () => {
    const { url, port, received } = await start();
    await expect(open(url, []).send(mail)).rejects.toThrow('not on the public network');
    const rebound = open(`smtp://mail.example.com:${port}`, [], {}, async () => ['127.0.0.1']);
    await expect(rebound.send(mail)).rejects.toThrow('not on the public network');
    expect(received).toEqual([]);
  });

  it('gets the account, and one that refuses it is named without it', async () => {
    const account = { user: 'delivery', password: 'p4ss-w0rd-secret' };
    const accounts: unknown[] = [];
    const { url, received } = await start({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (
        { username, password }: { username?: string; password?: string },
        _session: unknown,
        done: (error: Error | null, answer?: { user: string }) => void,
      ) => {
        accounts.push({ username, password });
        if (password === account.password) return done(null, { user: 'delivery' });
        done(new Error(`wrong password ${password}`));
      },
    });
    await open(url, ['127.0.0.1'], { account }).send(mail);
    expect(received).toHaveLength(1);
    const wrong = open(url, ['127.0.0.1'], { account: { ...account, password: 'wr0ng-secret' } }).send(mail);
    await expect(wrong).rejects.toMatchObject({
      message: 'the mail server refused the account of the service',
      isFinal: false,
    });
  });

  it('a mail server that is probed gets no mail, and one that cannot be reached says so', async () => {
    const { url, received } = await start();
    await open(url, ['127.0.0.1']).probe();
    expect(received).toEqual([]);
    await closing.pop()?.();
    await expect(open(url, ['127.0.0.1']).probe()).rejects.toThrow('does not accept connections');
  });

  it('a mail server whose certificate no trusted authority signed gets no mail', async () => {
    const { url, received } = await start({ disabledCommands: [] });
    await expect(open(url, ['127.0.0.1']).send(mail)).rejects.toThrow('offers no TLS that can be trusted');
    const secure = await startMailServer({ secure: true });
    closing.push(() => secure.close());
    await expect(open(`smtps://127.0.0.1:${secure.port}`, ['127.0.0.1']).send(mail)).rejects.toThrow('TLS');
    expect(received).toEqual([]);
  });

  it('a mail server that never answers makes the attempt fail at its time limit', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    closing.push(() => silent.close());
    const { port } = silent.address() as { port: number };
    const begun = Date.now();
    await expect(open(`smtp://127.0.0.1:${port}`, ['127.0.0.1']).send(mail)).rejects.toThrow('did not answer in time');
    expect(Date.now() - begun).toBeLessThan(6_000);
    await expect(open('smtp://127.0.0.1:9', ['127.0.0.1']).send(mail)).rejects.toThrow('does not accept connections');
  });
});
