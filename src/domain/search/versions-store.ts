import { db, type Over } from '#domain/db.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { isId } from '#domain/shared/ids.ts';
import { hasPiece, hasText, pieceOfId } from '#domain/shared/naming/name-match.ts';
import type { Finder } from './finder.ts';

interface Wanted {
  /** A text in the name of the template; empty: any template. */
  readonly template: string;
  /** The beginning of the number, in lower case. */
  readonly number: string;
}

/**
 * Versions of templates by their id, the piece of it that pages show, or the beginning of their number, which a text in the template's name
 * may precede: the last published first.
 */
export const findVersions: Finder = async (em, principal, text, max) => {
  const id = text.toLowerCase();
  const piece = pieceOfId(text);
  const wanted = readWanted(id);
  if (!isId(id) && piece === null && wanted === null) return [];
  return db(em)
    .selectFrom('template_versions as v')
    .innerJoin('templates as m', 'm.id', 'v.templateId')
    .where('m.deletedAt', 'is', null)
    .where((eb) => {
      if (isId(id)) return eb('v.id', '=', id);
      return eb.or([
        ...(piece === null ? [] : [hasPiece(eb.ref('v.id'), piece)]),
        ...(wanted === null ? [] : [isWanted(eb, wanted)]),
      ]);
    })
    .where((eb) => isInReadableTeam(principal, eb.ref('m.teamId'), 'visible'))
    .select(['v.id', 'v.version as name', 'm.name as context', 'm.id as parentId'])
    .orderBy('v.id', 'desc')
    .limit(max)
    .execute();
};

/** Reads a text such as "1.2", "v1.2" or, with the name of a template, "network 1.2"; null for a text that does not end with a number. */
function readWanted(text: string): Wanted | null {
  const [, template, number] = /^(?:(.*)\s)?v?(\d[\w.+-]*)$/s.exec(text) ?? [];
  return number === undefined ? null : { template: template?.trim() ?? '', number };
}

function isWanted(eb: Over<{ v: 'template_versions'; m: 'templates' }>, { template, number }: Wanted) {
  const beginning = `${number.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const isOfTemplate = (['m.name', 'm.slug'] as const).map((name) => hasText(eb.ref(name), template, 'part'));
  const isNumber = eb(eb.fn<string>('lower', ['v.version']), 'like', beginning);
  return eb.and([isNumber, ...(template === '' ? [] : [eb.or(isOfTemplate)])]);
}
