import { Invalid, invalidField, ServiceError } from '#domain/shared/errors.ts';
import { type OutboundAnswer, OutboundFailure, type OutboundHttp } from '#domain/shared/outbound/outbound-http.ts';
import type { OutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { countRefs } from '#domain/sources/git/snapshot.ts';
import { openCredentials, type SealedCredentials } from '../envelope.ts';
import { CredentialsUnavailable } from '../errors.ts';
import { CloudConfig, isFederated } from '../kinds/cloud-config.ts';
import { git, isBelow, toGitCredential } from '../kinds/git.ts';
import type { ConnectionKind } from '../kinds/kinds.ts';
import { kubernetes } from '../kinds/kubernetes.ts';
import { registry } from '../kinds/registry.ts';

/** The result of trying a connection. */
export interface Trial {
  readonly ok: boolean;
  /** The parts that the trial checked, and those that it did not. */
  readonly tried: string;
  /** Why it did not work, without any secret; null: it did. */
  readonly problem: string | null;
}

export interface TrialDeps {
  readonly keyRing: KeyRing;
  readonly http: Pick<OutboundHttp, 'send'>;
  readonly policy: OutboundPolicy;
  /** The origin of the service as an issuer of tokens; null if it is not known. */
  readonly issuer: string | null;
  /** The holders for the limit of concurrent reads, such as a caller and an organization. */
  readonly holders?: readonly string[];
}

/** The saved settings of a connection. */
export interface TriedConnection extends SealedCredentials {
  readonly id: string;
  readonly kind: ConnectionKind;
  readonly config: unknown;
  readonly credentialRevision: number;
}

interface Opened {
  readonly config: unknown;
  readonly credentials: unknown;
  /** A repository below the URL of a git connection. */
  readonly repository: string | undefined;
}

type Try = (deps: TrialDeps, opened: Opened) => Promise<Trial>;

/**
 * Tries the saved settings with the system that they are for. Every address is checked before the connection. Credentials that cannot be
 * opened count as a failure too.
 * @throws Invalid for a git connection if no repository below its URL is named, and for another one if a repository is
 */
export async function tryConnection(deps: TrialDeps, connection: TriedConnection, repository?: string): Promise<Trial> {
  if (repository !== undefined && connection.kind !== 'git')
    throw invalidField('repository', `a connection of the kind ${connection.kind} has no repositories: leave it out`);
  try {
    const credentials = openCredentials(deps.keyRing, connection);
    return await tries[connection.kind](deps, { config: connection.config, credentials, repository });
  } catch (error) {
    if (!(error instanceof CredentialsUnavailable)) throw error;
    return { ok: false, tried: 'the credentials were to be opened', problem: error.message };
  }
}

const tries: Readonly<Record<ConnectionKind, Try>> = {
  generic: async () =>
    works('the credentials open; the service does not know what they are for, so it tried nothing else'),
  cloud: async ({ issuer }, { config }) => {
    if (!isFederated(CloudConfig.parse(config)))
      return works('the credentials open; only a run can try whether the cloud accepts them: start one');
    const tried =
      'the service looked for its public URL, which its tokens name; only a run can try whether the cloud trusts them';
    return issuer === null
      ? fails(
          tried,
          'the service does not know its public URL: an operator sets COORDINATOR_BASE_URL or COORDINATOR_ISSUER',
        )
      : works(tried);
  },
  registry: async ({ http }, { config, credentials }) => {
    const { host } = registry.config.parse(config);
    const { token } = registry.credentials.parse(credentials);
    const tried = `the services of ${host} were asked for with the token`;
    return ask(tried, () => http.send(get(`https://${host}/.well-known/terraform.json`, token)));
  },
  kubernetes: async ({ http }, { config, credentials }) => {
    const { server, ca } = kubernetes.config.parse(config);
    const { token } = kubernetes.credentials.parse(credentials);
    const request = {
      ...get(`${server.replace(/\/$/, '')}/api`, token),
      ...(ca !== undefined && { certificates: ca }),
    };
    // A cluster that accepts the token but grants it no rights answers 403, which counts as success.
    return ask('the API of the cluster was asked for with the token', () => http.send(request), [200, 403]);
  },
  git: async ({ policy, holders = [] }, { config, credentials, repository }) => {
    const { url } = git.config.parse(config);
    if (repository === undefined || !URL.canParse(repository) || !isBelow(repository, url))
      throw new Invalid(`repository: name the URL of a repository below ${url}`);
    const tried = 'git asked the repository for its refs';
    try {
      const count = await countRefs(repository, {
        policy,
        holders,
        credential: toGitCredential(git.credentials.parse(credentials)),
      });
      // An empty list counts as a failure: Git reports no error if a login page or a proxy answers, and no template can use an empty
      // repository.
      return count > 0 ? works(`${tried}, and found ${count}`) : fails(tried, noRefs);
    } catch (error) {
      // A refusal because the service is busy says nothing about the connection.
      if (error instanceof ServiceError && error.kind !== 'limited') return fails(tried, error.message);
      throw error;
    }
  },
};

const noRefs = 'the server answered, but lists no branch or tag: this is no Git repository, or it is empty';

const works = (tried: string): Trial => ({ ok: true, tried, problem: null });
const fails = (tried: string, problem: string): Trial => ({ ok: false, tried, problem });

function get(url: string, token: string) {
  return { method: 'GET', url, headers: { authorization: `Bearer ${token}`, accept: 'application/json' } } as const;
}

/** Sends a request. The trial succeeds only if the answer is JSON and has one of the good statuses. */
async function ask(
  tried: string,
  send: () => Promise<OutboundAnswer>,
  good: readonly number[] = [200],
): Promise<Trial> {
  try {
    const { status, body } = await send();
    if (good.includes(status) && isJson(body)) return works(tried);
    const isRefused = status === 401 || status === 403;
    return fails(
      tried,
      isRefused ? `it refused the token (${status})` : `it answered ${status}, which was not expected`,
    );
  } catch (error) {
    if (error instanceof OutboundFailure) return fails(tried, error.message);
    throw error;
  }
}

function isJson(body: Buffer): boolean {
  try {
    return typeof JSON.parse(body.toString()) === 'object';
  } catch {
    return false;
  }
}
