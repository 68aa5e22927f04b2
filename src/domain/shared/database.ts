import { Migrator } from '@mikro-orm/migrations';
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { Pool } from 'pg';
import { ApiKey, ApiKeyUse, PasswordReset, Principal, Session, User } from '#domain/identity/entity.ts';
import { Instance, InstanceSlot, StateVersion } from '#domain/instances/entity.ts';
import {
  Invitation,
  Organization,
  OrganizationMember,
  OrganizationSlug,
  Team,
  TeamMember,
} from '#domain/organizations/entity.ts';
import { Environment, EnvironmentVariable, Project } from '#domain/projects/entity.ts';
import { Template, TemplateVersion } from '#domain/registry/entity.ts';
import { Run, RunAttempt, RunEvent, RunPlan, RunReview } from '#domain/runs/entity.ts';
import { ServiceAccount } from '#domain/service-accounts/entity.ts';
import { Worker, WorkerPool } from '#domain/workers/entity.ts';
import { migrations } from '../../../migrations/index.ts';
import { BindingDriver } from './connection.ts';
import { CommandReceipt, Installation, OutboxRow } from './entity.ts';
import { makePartitions } from './partitions.ts';
import { guardPool } from './pool.ts';

const entities = [
  ...[Installation, CommandReceipt, OutboxRow],
  ...[Principal, User, ServiceAccount, Session, PasswordReset, ApiKey, ApiKeyUse],
  ...[Organization, OrganizationSlug, OrganizationMember, Team, TeamMember, Invitation],
  ...[Project, Environment, EnvironmentVariable],
  ...[Template, TemplateVersion],
  ...[Instance, InstanceSlot, StateVersion],
  ...[Run, RunAttempt, RunPlan, RunReview, RunEvent],
  ...[Worker, WorkerPool],
];

/** Tables that are partitioned by time, or not logged: made by migrations, written and read by SQL, unknown to the entities. */
const tablesWithoutEntity = [/^audit_records/, /^run_log_chunks/, /^rate_counts/];

export type Orm = MikroORM;
/** A unit of work: one request's, or one transaction's. */
export type Em = EntityManager;

export interface DatabaseSettings {
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  /** How long a statement may go without any answer before its connection counts as broken; 0: for ever. */
  readonly answerWithinMs?: number;
}

const connectWithinMs = 5_000;
const answerWithinMs = 60_000;

/** Opens a pool to PostgreSQL. Nothing is connected until the first query. */
export function openDatabase(settings: DatabaseSettings): Orm {
  return new MikroORM({
    driver: BindingDriver,
    clientUrl: settings.databaseUrl,
    entities,
    extensions: [Migrator],
    pool: { min: 0, max: settings.databasePoolSize, idleTimeoutMillis: 30_000 },
    migrations: { migrationsList: [...migrations], snapshot: false, tableName: 'migrations', silent: true },
    schemaGenerator: { skipTables: tablesWithoutEntity, disableForeignKeys: false },
    forceUtcTimezone: true,
    driverOptions: {
      application_name: 'delivery-coordinator',
      connectionTimeoutMillis: connectWithinMs,
      keepAlive: true,
      pipeline: true,
      onPoolCreated: (pool: Pool) => guardPool(pool, settings.answerWithinMs ?? answerWithinMs),
    },
  });
}

/** Brings the schema to this release's. Concurrent callers wait for each other; a database of a later release is refused. */
export async function migrate(settings: Pick<DatabaseSettings, 'databaseUrl'>): Promise<string[]> {
  const orm = openDatabase({ ...settings, databasePoolSize: 2, answerWithinMs: 0 });
  try {
    return await orm.em.fork().transactional(async (tx) => {
      await tx.execute(`select pg_advisory_xact_lock(hashtextextended('delivery-coordinator/migrate', 0))`);
      await refuseLaterRelease(orm);
      const applied = await orm.migrator.up();
      await makePartitions(tx);
      return applied.map((migration) => migration.name);
    });
  } finally {
    await orm.close();
  }
}

/** Names the migrations that the database still lacks; empty means that this release can work with it. */
export async function pendingMigrations(orm: Orm): Promise<string[]> {
  const pending = await orm.migrator.getPending();
  return pending.map((migration) => migration.name);
}

async function refuseLaterRelease(orm: Orm): Promise<void> {
  const known = new Set(migrations.map((migration) => migration.name));
  const executed = await orm.migrator.getExecuted();
  const unknown = executed.filter((row) => !known.has(row.name));
  if (unknown.length === 0) return;
  throw new Error(
    `The database was migrated by a later release (${unknown.map((row) => row.name).join(', ')}): start that release, or give another DATABASE_URL.`,
  );
}
