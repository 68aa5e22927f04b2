import { setTimeout as sleep } from 'node:timers/promises';
import { Session } from '#domain/identity/entity.ts';
import { signSessionToken } from '#domain/identity/sessions/sessions.ts';
import { newId } from '#domain/shared/ids.ts';
import { type InstallationKeys, openInstallation } from '#domain/shared/installation/installation.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { addKey, addPerson, addTeam, type Person } from '#test/support/access/people.ts';
import type { ApiProcess } from '#test/support/api/api-process.ts';
import { type Answer, Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { startProcess } from './processes.ts';

export type Team = { organizationId: string; teamId: string };

/** A way to revoke an authority. */
interface Revocation {
  /** The credential that the user of the authority presents. */
  readonly by: 'key' | 'session';
  revoke(scene: Scene): Promise<Answer>;
}

interface Scene {
  readonly team: Team;
  readonly victim: Person;
  readonly sessionId: string;
  /** An administrator, who revokes at another process than the one at which the authority is used. */
  readonly root: Caller;
  /** The user with another credential, at that other process. */
  readonly self: Caller;
}

const userPath = ({ victim }: Scene) => `/users/${victim.id}`;
const organizationPath = ({ team }: Scene) => `/organizations/${team.organizationId}`;

export const revocations: Readonly<Record<string, Revocation>> = {
  key: { by: 'key', revoke: ({ self, victim }) => self.send('DELETE', `/profile/api-keys/${victim.keyId}`) },
  session: { by: 'session', revoke: ({ self, sessionId }) => self.send('DELETE', `/auth/sessions/${sessionId}`) },
  'team membership': {
    by: 'key',
    revoke: (scene) =>
      scene.root.send('DELETE', `${organizationPath(scene)}/teams/${scene.team.teamId}/members/${scene.victim.id}`),
  },
  'organization membership': {
    by: 'session',
    revoke: (scene) => scene.root.send('DELETE', `${organizationPath(scene)}/members/${scene.victim.id}`),
  },
  'team role': {
    by: 'key',
    revoke: (scene) =>
      scene.root.send('PUT', `${organizationPath(scene)}/teams/${scene.team.teamId}/members/${scene.victim.id}`, {
        role: 'viewer',
      }),
  },
  'platform role': {
    by: 'session',
    revoke: (scene) => scene.root.send('PUT', userPath(scene), { role: 'requester' }),
  },
  disablement: { by: 'key', revoke: (scene) => scene.root.send('PUT', userPath(scene), { enabled: false }) },
};

/** The responses to a revocation and to two uses of the revoked authority. */
export interface Pair {
  readonly revoked: Answer;
  /** The response to a use that was sent at about the same time as the revocation. */
  readonly raced: Answer;
  /** The response to a use that was sent after the response to the revocation. */
  readonly after: Answer;
}

/** Two API processes on one database, and pairs of requests to both. */
export class Revocations {
  readonly #api: TestApi;
  readonly #processes: readonly ApiProcess[];
  readonly #installation: InstallationKeys;
  readonly #root: Person;
  readonly #teams: readonly Team[];
  #made = 0;

  private constructor(
    api: TestApi,
    processes: readonly ApiProcess[],
    installation: InstallationKeys,
    root: Person,
    teams: readonly Team[],
  ) {
    this.#api = api;
    this.#processes = processes;
    this.#installation = installation;
    this.#root = root;
    this.#teams = teams;
  }

  static async open(): Promise<Revocations> {
    const api = await startApi();
    const processes = await Promise.all([1, 2].map(() => startProcess(api.config)));
    const installation = await openInstallation(api.orm, new KeyRing(api.config.secretKeys));
    const root = await addPerson(api, 'admin');
    const teams = await Promise.all(Array.from({ length: 4 }, () => addTeam(api.orm)));
    return new Revocations(api, processes, installation, root, teams);
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    await this.#api.close();
  }

  /** @param lead how many milliseconds the use is sent before the revocation; after it if negative */
  async race({ by, revoke }: Revocation, lead: number): Promise<Pair> {
    const number = this.#made++;
    const team = this.#teams[number % this.#teams.length]!;
    const [here, there] = number % 2 === 0 ? this.#processes : [...this.#processes].reverse();
    const victim = await addPerson(this.#api, 'maintainer', {
      organizations: { [team.organizationId]: 'member' },
      teams: { [team.teamId]: 'admin' },
    });
    const { sessionId, token } = await this.#openSession(victim);
    const { key } = await addKey(this.#api, victim.id);
    const root = new Caller(there!.url, { 'x-api-key': this.#root.key });
    const self = new Caller(there!.url, { 'x-api-key': key });
    const headers: Record<string, string> =
      by === 'key' ? { 'x-api-key': victim.key } : { authorization: `Bearer ${token}` };
    const user = new Caller(here!.url, headers);
    const use = () => user.post('/projects', { team_id: team.teamId, name: `Project ${newId()}` });
    const [raced, revoked] = await Promise.all([
      sleep(Math.max(0, -lead)).then(use),
      sleep(Math.max(0, lead)).then(() => revoke({ team, victim, sessionId, root, self })),
    ]);
    return { revoked, raced, after: await use() };
  }

  /** Counts the successful uses that were committed after their revocation. */
  async countLate(pairs: readonly Pair[]): Promise<number> {
    const done = pairs.filter(({ raced }) => raced.status === 201);
    const requestIds = done.map(({ revoked }) => revoked.headers.get('x-request-id'));
    const projectIds = done.map(({ raced }) => raced.body.id);
    const [row] = await this.#api.orm.em.fork().execute<{ known: number; late: number }[]>(
      `select count(*)::int as known,
              count(*) filter (where pg_xact_commit_timestamp(p.xmin) > pg_xact_commit_timestamp(a.xmin))::int as late
         from unnest(?::text[], ?::uuid[]) as pair (request_id, project_id)
         join projects p on p.id = pair.project_id
         join audit_records a on a.request_id = pair.request_id and a.outcome = 'committed'`,
      [`{${requestIds.join(',')}}`, `{${projectIds.join(',')}}`],
    );
    if (row?.known !== done.length) throw new Error(`the database has only ${row?.known} of ${done.length} pairs`);
    return row.late;
  }

  async #openSession({ id: userId }: Person): Promise<{ sessionId: string; token: string }> {
    const em = this.#api.orm.em.fork();
    const session = em.create(Session, { id: newId(), userId, expiresAt: new Date(Date.now() + 3_600_000) });
    await em.persist(session).flush();
    return { sessionId: session.id, token: await signSessionToken(this.#installation, session) };
  }
}
