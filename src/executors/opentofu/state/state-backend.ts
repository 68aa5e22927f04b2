import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Environment } from '../../shared/environment.ts';
import { reportUnexpectedError } from '../../shared/errors.ts';
import { resultLimits } from '../../shared/result-limits.ts';
import type { TofuState } from './tofu-state.ts';

/** OpenTofu's HTTP backend for one attempt, with a password of its own. */

const user = 'attempt';
const maxLockBytes = 64 * 1024;

interface Answer {
  readonly status: number;
  readonly body?: Buffer | string;
}

export class StateBackend {
  readonly #state: TofuState;
  /** A plan must not change the state. */
  readonly #isReadOnly: boolean;
  readonly #password = randomBytes(32).toString('base64url');
  /** The host holds a state in memory while it receives it, so it receives one at a time. */
  #isReceiving = false;
  #lock: { id: string; info: string } | null = null;

  constructor(state: TofuState, options: { isReadOnly: boolean }) {
    this.#state = state;
    this.#isReadOnly = options.isReadOnly;
  }

  /** Returns the variables that configure the tool's backend. As variables, they stay out of the plan file. */
  environment(origin: string, seesState = true): Environment {
    return {
      TF_HTTP_ADDRESS: `${origin}/${seesState ? 'state' : 'no-state'}`,
      TF_HTTP_LOCK_ADDRESS: `${origin}/lock`,
      TF_HTTP_UNLOCK_ADDRESS: `${origin}/lock`,
      TF_HTTP_USERNAME: user,
      TF_HTTP_PASSWORD: this.#password,
      TF_HTTP_RETRY_MAX: '0',
    };
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    void this.#serve(request, response);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request).catch((error: unknown) => {
      reportUnexpectedError(error);
      return { status: 500, body: 'the state could not be served' };
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    if (!this.#isAuthentic(request.headers.authorization)) return { status: 401 };
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    switch (`${request.method} ${url.pathname}`) {
      case 'GET /state':
        return this.#state.content === null ? { status: 404 } : { status: 200, body: this.#state.content };
      case 'GET /no-state':
        return { status: 404 };
      case 'POST /state':
        return this.#replaceState(request, url.searchParams.get('ID'));
      case 'LOCK /lock':
        return this.#takeLock(request);
      case 'UNLOCK /lock':
        return this.#releaseLock(request);
      default:
        return { status: 405 };
    }
  }

  #isAuthentic(authorization: string | undefined): boolean {
    const digest = (text: string) => createHash('sha256').update(text).digest();
    const expected = `Basic ${Buffer.from(`${user}:${this.#password}`).toString('base64')}`;
    return timingSafeEqual(digest(authorization ?? ''), digest(expected));
  }

  async #replaceState(request: IncomingMessage, lockId: string | null): Promise<Answer> {
    if (this.#isReadOnly) return { status: 403, body: 'a plan cannot change the state' };
    if (this.#lock === null || this.#lock.id !== lockId)
      return { status: 409, body: 'the state is not locked by this ID' };
    if (this.#isReceiving) return { status: 409, body: 'another state is being received' };
    this.#isReceiving = true;
    const content = await readBody(request, resultLimits.stateBytes).finally(() => {
      this.#isReceiving = false;
    });
    if (content === null) return { status: 413, body: this.#state.refuseSize().message };
    const checksum = request.headers['content-md5'];
    if (checksum !== undefined && checksum !== createHash('md5').update(content).digest('base64'))
      return { status: 400 };
    try {
      await this.#state.replace(content);
      return { status: 200 };
    } catch (error) {
      return { status: this.#state.hasConflict ? 409 : 500, body: error instanceof Error ? error.message : '' };
    }
  }

  async #takeLock(request: IncomingMessage): Promise<Answer> {
    const info = await readBody(request, maxLockBytes);
    const id = info && readLockId(info);
    if (!id) return { status: 400 };
    if (this.#lock !== null) return { status: 423, body: this.#lock.info };
    this.#lock = { id, info: info.toString() };
    return { status: 200 };
  }

  async #releaseLock(request: IncomingMessage): Promise<Answer> {
    const info = await readBody(request, maxLockBytes);
    if (info === null) return { status: 413 };
    // A forced unlock sends no lock id.
    const id = readLockId(info);
    if (this.#lock !== null && id !== null && id !== this.#lock.id) return { status: 409, body: this.#lock.info };
    this.#lock = null;
    return { status: 200 };
  }
}

function readLockId(info: Buffer): string | null {
  try {
    const parsed: unknown = JSON.parse(info.toString());
    if (typeof parsed !== 'object' || parsed === null || !('ID' in parsed)) return null;
    return typeof parsed.ID === 'string' && parsed.ID !== '' ? parsed.ID : null;
  } catch {
    return null;
  }
}

async function readBody(request: IncomingMessage, maximum: number): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    bytes += piece.length;
    if (bytes > maximum) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
