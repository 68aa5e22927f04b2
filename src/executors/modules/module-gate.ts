import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ModuleSource } from '#domain/connections/module-sources/model.ts';
import { ServiceError } from '#domain/shared/errors.ts';
import type { ModuleAccess } from '../attempt/attempt.ts';
import type { Egress } from '../egress/egress.ts';
import { asRefusal } from '../egress/refusal.ts';
import type { EnvironmentVariable } from '../protocol/request.ts';
import { answerText } from './answers.ts';
import { forwardGit, readGitRequest } from './git-source.ts';
import { gitVariables } from './git-variables.ts';
import { RegistrySource } from './registry-source.ts';
import { SshMirrors } from './ssh-source.ts';

type GitSource = Extract<ModuleSource, { kind: 'git' }>;

interface GateOptions {
  readonly sources: readonly ModuleSource[];
  readonly egress: Egress;
  /** The origin at which the attempt's programs reach the relay. */
  readonly origin: string;
  /** A directory of the attempt, which no sandbox sees. */
  readonly directory: string;
  /** The variables of the run. */
  readonly given: readonly EnvironmentVariable[];
  /** Logs a line of the service itself. */
  readonly note: (line: string) => void;
}

/**
 * Gives the sandbox of one `init` access to the private modules of its connections. Credentials stay outside of the sandbox, because a
 * module source may read everything that the tool can read. The gate only allows reading, only below the URLs of the connections, and only
 * under an address that nobody can guess. It closes with the `init`.
 */
export class ModuleGate {
  readonly #options: GateOptions;
  readonly #prefix = `/modules/${randomBytes(24).toString('base64url')}`;
  readonly #git: readonly GitSource[];
  readonly #registries: readonly RegistrySource[];
  readonly #mirrors: SshMirrors;
  #isOpen = true;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#git = options.sources.filter((source) => source.kind === 'git');
    this.#registries = options.sources
      .filter((source) => source.kind === 'registry')
      .map((source, index) => new RegistrySource(source, this.#placeOf('registry', index), options.egress));
    this.#mirrors = new SshMirrors(options.egress, options.directory);
  }

  /** The variables and settings that direct the tool to the gate. */
  async access(): Promise<Omit<ModuleAccess, 'close'>> {
    const { given, note } = this.#options;
    const redirections = this.#git.map(({ url }, index) => ({ url, place: this.#placeOf('git', index) }));
    const settings = await Promise.all(this.#registries.map((registry) => registry.settings(note)));
    return { environment: gitVariables(redirections, given), settings: settings.join('') };
  }

  /** Closes the gate for good. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#mirrors.close();
  }

  /** Whether a request is for a gate, open or closed. */
  static isFor(request: IncomingMessage): boolean {
    return request.url?.startsWith('/modules/') ?? false;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    request.on('error', () => response.destroy());
    this.#answer(request, response).catch((error: unknown) => {
      const { status, message } = asRefusal(error);
      answerText(response, status, `the request ${message}`);
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? '';
    const [, kind, number = '', rest = ''] =
      /^\/(git|registry)\/(\d{1,4})(.*)$/.exec(target.slice(this.#prefix.length)) ?? [];
    const isMine = this.#isOpen && target.startsWith(`${this.#prefix}/`);
    const index = Number(number);
    if (!isMine || kind === undefined) return answerText(response, 404, 'there is nothing here');
    const registry = kind === 'registry' ? this.#registries[index] : undefined;
    if (registry) return registry.answer(rest, request, response);
    const source = kind === 'git' ? this.#git[index] : undefined;
    const asked = source && readGitRequest(request.method, rest, source.url);
    if (!source || !asked)
      return answerText(response, 403, 'only repositories below the URL of the connection can be read here');
    const exchange = { asked, request, response };
    const { credential, url } = source;
    try {
      if (credential.kind === 'ssh_key') return await this.#mirrors.answer({ url, credential }, exchange);
      return await forwardGit(this.#options.egress, { url, credential }, this.#placeOf('git', index), exchange);
    } catch (error) {
      const said = error instanceof ServiceError ? error : asRefusal(error);
      this.#options.note(`${asked.repository.href}: ${said.message}`);
      answerText(response, 403, `${asked.repository.href}: ${said.message}`);
    }
  }

  #placeOf(kind: 'git' | 'registry', index: number): string {
    return `${this.#options.origin}${this.#prefix}/${kind}/${index}`;
  }
}
