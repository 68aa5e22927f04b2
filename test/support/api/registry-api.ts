import { rmSync } from 'node:fs';
import { runApi } from '#api/main.ts';
import type { Orm } from '#database/database.ts';
import { issueApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { createUser } from '#domain/identity/users/users.ts';
import { TeamMember } from '#domain/members/entity.ts';
import { Organization } from '#domain/organizations/entity.ts';
import { newId } from '#domain/shared/ids.ts';
import type { PlatformRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { Team } from '#domain/teams/entity.ts';
import { openDatabase } from '#open-database';
import { createTestConfig } from '../config.ts';
import { createDatabase } from '../database/database.ts';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
// biome-ignore lint/suspicious/noExplicitAny: tests inspect any body
export type Answer = { status: number; body: any; headers: Headers };
export type Client = (method: Method, path: string, body?: unknown) => Promise<Answer>;

export type RegistryApi = {
  readonly orm: Orm;
  /** Adds a user with a platform role and optionally team roles. Its paths are relative to `/api/v1/registry`. */
  readonly addClient: (role: PlatformRole, teams?: Record<string, TeamRole>) => Promise<Client>;
  /** Adds a team in a new organization. */
  readonly addTeam: () => Promise<{ organizationId: string; teamId: string }>;
  readonly close: () => Promise<void>;
};

/** Starts the API on its own database. `outboundAllow` lists the addresses that git may reach. */
export async function startRegistryApi(outboundAllow: string): Promise<RegistryApi> {
  const database = await createDatabase();
  const config = createTestConfig(database.url, { COORDINATOR_OUTBOUND_ALLOW: outboundAllow });
  const orm = openDatabase(config);
  const { url, close } = await runApi(config);
  return {
    orm,
    addClient: (role, teams = {}) => addClient(url, orm, role, teams),
    addTeam: () => addTeam(orm),
    close: async () => {
      await close();
      await orm.close();
      await database.drop();
      rmSync(config.dataDir, { recursive: true, force: true });
    },
  };
}

let made = 0;

async function addClient(url: string, orm: Orm, role: PlatformRole, teams: Record<string, TeamRole>): Promise<Client> {
  const em = orm.em.fork();
  const email = `user${made++}@example.com`;
  const { principal } = await createUser(em, { email, name: email, role, passwordHash: 'none' });
  for (const [teamId, teamRole] of Object.entries(teams)) {
    em.persist(em.create(TeamMember, { id: newId(), teamId, principalId: principal.id, role: teamRole }));
  }
  const { key } = issueApiKey(em, { principalId: principal.id, name: 'test', expiresAt: null, issuedBy: principal.id });
  await em.flush();
  return async (method, path, body) => {
    const response = await fetch(`${url}/api/v1/registry${path}`, {
      method,
      headers: {
        'x-api-key': key,
        accept: 'application/problem+json, application/json;q=0.5',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = text && JSON.parse(text);
    // A problem has its message as `detail`, and each thing that is wrong in `errors`.
    const parsedBody = parsed.detail === undefined ? parsed : { ...parsed, error: parsed.detail };
    return { status: response.status, body: parsedBody, headers: response.headers };
  };
}

async function addTeam(orm: Orm): Promise<{ organizationId: string; teamId: string }> {
  const em = orm.em.fork();
  const [organizationId, teamId] = [newId(), newId()];
  const name = `team-${made++}`;
  await em.persist(em.create(Organization, { id: organizationId, name, slug: name })).flush();
  await em.persist(em.create(Team, { id: teamId, organizationId, name, slug: name })).flush();
  return { organizationId, teamId };
}
