import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { loadVersion } from '#domain/registry/publication/published.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { nodesOfDraft } from '../spec/draft-nodes.ts';
import { findTemplates } from '../spec/templates.ts';
import type { FoundTemplate, TemplateCatalog } from '../spec/validate.ts';

/**
 * The template versions that a publication of a draft would choose now, by the keys of the nodes. Nodes whose template is not found have
 * none.
 */
export async function chooseTemplates(em: Em, teamId: string, spec: JsonValue): Promise<Record<string, FoundTemplate>> {
  const { templates } = await findTemplates(nodesOfDraft(spec), openCatalog(em, teamId));
  return Object.fromEntries(templates);
}

interface NamedTemplate {
  readonly id: string;
  readonly isArchived: boolean;
}

/**
 * The templates that the assemblies of a team may use: the team's own, and those of the whole installation. A name is an id or a slug; if
 * two templates have the same slug, it means the team's own. Each template is looked up once.
 */
export function openCatalog(em: Em, teamId: string): TemplateCatalog {
  const templates = new Map<string, Promise<NamedTemplate | undefined>>();
  const findOnce = (name: string) => {
    const found = templates.get(name) ?? findUsable(em, teamId, name);
    templates.set(name, found);
    return found;
  };
  let slugs: Promise<readonly string[]> | undefined;
  return {
    listSlugs: () => {
      slugs ??= listUsableSlugs(em, teamId);
      return slugs;
    },
    find: async (name, version) => {
      const template = await findOnce(name);
      return template ? findVersion(em, template, version) : { missing: 'template' };
    },
  };
}

async function findVersion(
  em: Em,
  { id, isArchived }: NamedTemplate,
  wanted: string,
): Promise<FoundTemplate | { missing: 'version' }> {
  try {
    const published = await loadVersion(em, id, wanted);
    const { version, spec } = published;
    return { templateId: id, versionId: published.id, version, spec, isArchived };
  } catch (error) {
    if (error instanceof Unprocessable) return { missing: 'version' };
    throw error;
  }
}

/** The maximum number of slugs that suggestions compare. */
const maxSlugs = 1_000;

async function listUsableSlugs(em: Em, teamId: string): Promise<string[]> {
  const rows = await selectUsable(em, teamId)
    .where('t.archivedAt', 'is', null)
    .select('t.slug')
    .distinct()
    .orderBy('t.slug')
    .limit(maxSlugs)
    .execute();
  return rows.map(({ slug }) => slug);
}

function selectUsable(em: Em, teamId: string) {
  return db(em)
    .selectFrom('templates as t')
    .where('t.deletedAt', 'is', null)
    .where((eb) => eb.or([eb('t.teamId', '=', teamId), eb('t.teamId', 'is', null)]));
}

async function findUsable(em: Em, teamId: string, name: string): Promise<NamedTemplate | undefined> {
  const rows = await selectUsable(em, teamId)
    .where((eb) => eb.or([eb('t.slug', '=', name), ...(isId(name) ? [eb('t.id', '=', name)] : [])]))
    .select((eb) => ['t.id', 't.slug', 't.teamId', eb('t.archivedAt', 'is not', null).as('isArchived')])
    .execute();
  // An id takes precedence, because it always names the same template, whereas anybody may choose a slug that looks like an id.
  const byId = rows.find(({ id }) => id === name);
  const found = byId ?? rows.find((row) => row.teamId !== null) ?? rows[0];
  return found && { id: found.id, isArchived: Boolean(found.isArchived) };
}
