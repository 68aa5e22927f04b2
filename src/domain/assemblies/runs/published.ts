import type { Em } from '#database/database.ts';
import { AssemblyVersion, type ChosenTemplate } from '../entity.ts';
import { AssemblySpec } from '../spec/spec.ts';

/** A published version as runs use it. It never changes, so it is read once and cached. */
export interface PublishedAssembly {
  readonly id: string;
  readonly version: string;
  readonly spec: AssemblySpec;
  readonly templates: Readonly<Record<string, ChosenTemplate>>;
  readonly publishedBy: string;
  readonly responsibleUserId: string | null;
}

const maximumCached = 100;
const cached = new Map<string, PublishedAssembly>();

/** A version by the id of its row, which must exist. */
export async function loadPublishedAssembly(em: Em, id: string): Promise<PublishedAssembly> {
  const known = cached.get(id);
  if (known) return known;
  const row = await em.findOneOrFail(AssemblyVersion, { id });
  const { version, templates, publishedBy, responsibleUserId = null } = row;
  const published = { id, version, templates, publishedBy, responsibleUserId, spec: AssemblySpec.parse(row.spec) };
  if (cached.size >= maximumCached) cached.delete(cached.keys().next().value ?? id);
  cached.set(id, published);
  return published;
}

export async function findVersionSpec(em: Em, id: string): Promise<AssemblySpec> {
  return (await loadPublishedAssembly(em, id)).spec;
}
