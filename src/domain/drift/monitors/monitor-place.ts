import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { findInstanceToChange } from '#domain/instances/targets.ts';
import { findTemplate, shareTemplate } from '#domain/registry/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import type { MonitorScope } from '../model.ts';

/** What a new monitor will watch, with its owner. */
export interface MonitorPlace extends Ownership, Archivable {
  readonly scope: MonitorScope;
  readonly instanceId: string | null;
  readonly environmentId: string | null;
  readonly templateId: string | null;
}

export interface WantedPlace {
  readonly instance_id?: string | undefined;
  readonly environment_id?: string | undefined;
  readonly template_id?: string | undefined;
}

/** Finds what a new monitor will watch; undefined if it does not exist. `lock` takes share locks on the rows of its owners. */
export async function findPlace(
  em: Em,
  wanted: WantedPlace,
  { callerId, lock }: { callerId: string; lock: boolean },
): Promise<MonitorPlace | undefined> {
  const none = { instanceId: null, environmentId: null, templateId: null };
  if (wanted.environment_id !== undefined) {
    const environment = await findEnvironment(em, wanted.environment_id, lock);
    return environment && { ...ownerOf(environment), ...none, scope: 'environment', environmentId: environment.id };
  }
  if (wanted.template_id !== undefined) {
    const template = await findTemplate(em, wanted.template_id);
    if (template && lock) await shareTemplate(em, wanted.template_id);
    return template && { ...ownerOf(template), ...none, scope: 'template', templateId: template.template.id };
  }
  const id = wanted.instance_id ?? '';
  const instance = await findInstanceToChange({ em, params: { id }, callerId, lock });
  if (!instance) return undefined;
  const environmentId = await readEnvironmentId(em, id);
  return { ...ownerOf(instance), ...none, scope: 'instance', instanceId: id, environmentId };
}

function ownerOf({ organizationId, teamId, archived }: Ownership & Archivable): Ownership & Archivable {
  return { organizationId, teamId, archived };
}

async function readEnvironmentId(em: Em, instanceId: string): Promise<string | null> {
  const row = await db(em)
    .selectFrom('instances')
    .where('id', '=', instanceId)
    .select('environmentId')
    .executeTakeFirst();
  return row?.environmentId ?? null;
}
