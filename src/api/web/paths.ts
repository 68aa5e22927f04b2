import { fillPath } from '#api/pipeline/answers/location.ts';
import type { ConfirmationOf } from './confirmations.ts';
import { joinLists } from './declarations/page-lists.ts';
import { type LocalPath, type ParamsOf, type Query, withQuery } from './declarations/path-patterns.ts';

export { type LocalPath, type ParamsOf, type Query, withQuery } from './declarations/path-patterns.ts';

/**
 * The paths of all pages and forms, as the areas list them. Routes are registered from them, and `pagePath` builds addresses from them.
 * `operationPath` (src/api/pipeline/answers/location.ts) builds addresses of the API.
 */
export const pages = joinLists('pages');

export type PagePattern = (typeof pages)[keyof typeof pages];

/** The query of a page. `done` names the text about the last action (`confirmations.ts`). */
export type QueryOf<Pattern extends PagePattern> = Query & { readonly done?: ConfirmationOf<Pattern> | undefined };

/** The address of a page: its path with the parameters filled in, then the query. Undefined members of the query are left out. */
export function pagePath<Pattern extends PagePattern>(
  pattern: Pattern,
  ...[params, query]: unknown extends ParamsOf<Pattern>
    ? [params?: Record<string, never>, query?: QueryOf<Pattern>]
    : [params: ParamsOf<Pattern>, query?: QueryOf<Pattern>]
): LocalPath {
  return withQuery(fillPath(pattern, params ?? {}), query);
}
