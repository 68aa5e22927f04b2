import { connect, type Socket } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { createTransport, type Transporter } from 'nodemailer';
import { ServiceError } from '#domain/shared/errors.ts';
import { checkOutbound, type Destination, pinTo, type Resolve } from '#domain/shared/outbound/outbound.ts';
import { rejectOnAbort } from '#domain/shared/outbound/outbound-http.ts';
import type { OutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import { SendingFailure } from '../sending-failure.ts';

/** The server that sends e-mail, and the sender and links of e-mail from this installation. */
export interface MailConfig {
  /** `smtp://host:port` or `smtps://host:port`, without the account. */
  readonly url: string;
  readonly account: { readonly user: string; readonly password: string } | null;
  readonly from: { readonly name: string; readonly address: string };
  /** The origin that links lead to. */
  readonly linkOrigin: string;
}

export interface Mail {
  /** The id of the mail, which stays the same when it is sent again, so that mail programs recognize it. */
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

type Transport = Pick<Transporter, 'sendMail' | 'verify'>;

/** From the first packet to the server's acceptance. */
const timeoutMs = 30_000;
const connectTimeoutMs = 10_000;
const standardPorts = { 'smtp:': 587, 'smtps:': 465 } as const;

/**
 * Sends e-mail. The server is checked before each connection, like every other outbound address, and the socket connects to the addresses
 * that were checked. Without TLS nothing is sent, unless an operator allowed the server's address in `COORDINATOR_OUTBOUND_ALLOW`.
 */
export class MailServer {
  readonly config: MailConfig;
  readonly #policy: OutboundPolicy;
  readonly #resolve: Resolve | undefined;
  readonly #timeoutMs: number;

  constructor(
    config: MailConfig,
    policy: OutboundPolicy,
    options: { readonly resolve?: Resolve; readonly timeoutMs?: number } = {},
  ) {
    this.config = config;
    this.#policy = policy;
    this.#resolve = options.resolve;
    this.#timeoutMs = options.timeoutMs ?? timeoutMs;
  }

  /** Resolves when the server has accepted the mail for all of its recipients. @throws SendingFailure */
  async send(mail: Mail): Promise<void> {
    await this.#use(this.#timeoutMs, (transport) => transport.sendMail(this.#compose(mail)));
  }

  /**
   * Resolves when the server has accepted the service's account, so that a mail could be sent now. It sends none. @throws SendingFailure
   */
  async probe(): Promise<void> {
    await this.#use(Math.min(this.#timeoutMs, connectTimeoutMs), (transport) => transport.verify());
  }

  async #use(timeout: number, act: (transport: Transport) => Promise<unknown>): Promise<void> {
    const signal = AbortSignal.timeout(timeout);
    try {
      await Promise.race([this.#exchange(act, signal), rejectOnAbort(signal)]);
    } catch (error) {
      throw toFailure(error, signal);
    }
  }

  async #exchange(act: (transport: Transport) => Promise<unknown>, signal: AbortSignal): Promise<void> {
    const destination = await this.#check();
    signal.throwIfAborted();
    const socket = await dial(destination, signal);
    try {
      await act(this.#transportOver(socket, destination));
    } finally {
      socket.destroy();
    }
  }

  #check(): Promise<Destination> {
    const resolve = this.#resolve && { resolve: this.#resolve };
    return checkOutbound(this.config.url, this.#policy, { schemes: ['smtp', 'smtps'], ...resolve });
  }

  #transportOver(socket: Socket, { url, mayBePlain }: Destination): Transport {
    const { account } = this.config;
    return createTransport({
      host: hostOf(url),
      connection: socket,
      secure: url.protocol === 'smtps:',
      requireTLS: !mayBePlain,
      ...(account && { auth: { user: account.user, pass: account.password } }),
      connectionTimeout: connectTimeoutMs,
      greetingTimeout: connectTimeoutMs,
      socketTimeout: this.#timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  #compose({ id, to, subject, text, html }: Mail) {
    const { from, linkOrigin } = this.config;
    return {
      from,
      to: to.map((address) => ({ name: '', address })),
      subject,
      text,
      html,
      messageId: `<${id}@${new URL(linkOrigin).hostname}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
  }
}

/** Connects to one of the checked addresses. The socket is destroyed when the time is over. */
function dial({ url, addresses }: Destination, signal: AbortSignal): Promise<Socket> {
  const port = Number(url.port) || standardPorts[url.protocol as keyof typeof standardPorts];
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostOf(url), port, lookup: pinTo(addresses), autoSelectFamily: true });
    addAbortSignal(signal, socket);
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket));
  });
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The cause of the failure, without the server's own text, because that could contain the account. */
function toFailure(cause: unknown, signal: AbortSignal): SendingFailure {
  if (cause instanceof ServiceError) return new SendingFailure(cause.message, { cause });
  if (signal.aborted) return new SendingFailure('the mail server did not answer in time', { cause });
  const { code: own, originalCode, responseCode } = Object(cause) as Record<string, unknown>;
  const code = originalCode ?? own;
  if (code === 'EAUTH') return new SendingFailure('the mail server refused the account of the service', { cause });
  if (code === 'ETLS' || /CERT|SSL|ALTNAME/.test(String(code)))
    return new SendingFailure('the mail server offers no TLS that can be trusted', { cause });
  if (typeof responseCode === 'number') return refusedBy(responseCode, cause);
  if (/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/.test(String(code)))
    return new SendingFailure('the mail server does not accept connections at this port', { cause });
  if (/TIMEDOUT|TIMEOUT/.test(String(code)))
    return new SendingFailure('the mail server did not answer in time', { cause });
  return new SendingFailure('the mail server broke the connection off', { cause });
}

function refusedBy(code: number, cause: unknown): SendingFailure {
  const isFinal = code >= 500 && code < 600;
  return new SendingFailure(`the mail server refused the mail with the code ${code}`, { isFinal, cause });
}
