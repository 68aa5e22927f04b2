import { fillPath } from '#api/pipeline/answers/location.ts';
import type { NewsOf } from './news.ts';
import type { PagePattern } from './page-list.ts';

export { type PagePattern, pages } from './page-list.ts';

/** An address of this service, without its origin. */
export type LocalPath = `/${string}`;

/** The parameters that a pattern names, such as `id` of `/profile/sessions/:id/revoke`. */
export type ParamsOf<Pattern extends string> = Pattern extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Pattern extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The query of a page. `done` names what the page says about the last action (`news.ts`). */
export type QueryOf<Pattern extends PagePattern> = Query & { readonly done?: NewsOf<Pattern> | undefined };

/** The address of a page: its parameters fill the path, and the query follows. Undefined members of the query are left out. */
export function pagePath<Pattern extends PagePattern>(
  pattern: Pattern,
  ...[params, query]: unknown extends ParamsOf<Pattern>
    ? [params?: Record<string, never>, query?: QueryOf<Pattern>]
    : [params: ParamsOf<Pattern>, query?: QueryOf<Pattern>]
): LocalPath {
  return withQuery(fillPath(pattern, params ?? {}), query);
}

/** Adds a query to a path. A member with several values is repeated. */
export function withQuery(path: LocalPath, query: Query = {}): LocalPath {
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${encodeURIComponent(each)}`),
  );
  return given.length > 0 ? `${path}?${given.join('&')}` : path;
}
