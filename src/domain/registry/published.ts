import type { Em } from '#database/database.ts';
import { TemplateVersion } from './entity.ts';
import { PublishedSpec, type TemplateSpec } from './spec.ts';
import { resolveVersion } from './versions.ts';

/** A published version as runs use it. It never changes, so it is read once and kept. */
export interface PublishedVersion {
  readonly id: string;
  readonly version: string;
  readonly spec: TemplateSpec;
}

const maximumKept = 500;
const kept = new Map<string, PublishedVersion>();

/**
 * The version of a template that a client means: exact, a range, or `latest`.
 * @throws Unprocessable saying what there is instead
 */
export async function loadVersion(em: Em, templateId: string, wanted: string): Promise<PublishedVersion> {
  const available = await em.execute<{ id: string; version: string; yanked: boolean }[]>(
    `select id, version, yanked_at is not null as yanked from template_versions where template_id = ?`,
    [templateId],
  );
  return loadVersionById(em, resolveVersion(available, wanted).id);
}

/** A version by its row; the row is known to exist. */
export async function loadVersionById(em: Em, id: string): Promise<PublishedVersion> {
  const known = kept.get(id);
  if (known) return known;
  const row = await em.findOneOrFail(TemplateVersion, { id });
  const published = { id, version: row.version, spec: PublishedSpec.parse(row.spec) };
  if (kept.size >= maximumKept) kept.delete(kept.keys().next().value ?? id);
  kept.set(id, published);
  return published;
}
