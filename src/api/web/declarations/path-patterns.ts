import { fillPath, type PathParams } from '#api/pipeline/answers/location.ts';

/** An address of this service, without its origin. */
export type LocalPath = `/${string}`;

/** The parameters that a pattern names, such as `id` of `/profile/sessions/:id/revoke`. */
export type ParamsOf<Pattern extends string> = Pattern extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Pattern extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Fills a pattern with its parameters, for declarations of page lists. Pages use `pagePath`. */
export function toPath<Pattern extends LocalPath>(pattern: Pattern, params: ParamsOf<Pattern>): LocalPath {
  return fillPath(pattern, params as PathParams);
}

/** Adds a query to a path. A member with several values is repeated. */
export function withQuery(path: LocalPath, query: Query = {}): LocalPath {
  const given = Object.entries(query).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => `${name}=${encodeURIComponent(each)}`),
  );
  return given.length > 0 ? `${path}?${given.join('&')}` : path;
}
