import { fillPath } from '#api/pipeline/location.ts';

/** An address of this service, without its origin. */
export type LocalPath = `/${string}`;

/**
 * The paths of all pages and forms. Routes are registered with them, and `pagePath` builds addresses from them. Addresses of
 * the API are built by `operationPath` (src/api/pipeline/location.ts).
 */
export const pages = {
  home: '/',
  login: '/login',
  logout: '/logout',
  passwordReset: '/password-reset',
  profile: '/profile',
  profilePassword: '/profile/password',
  revokeSession: '/profile/sessions/:id/revoke',
  revokeApiKey: '/profile/api-keys/:id/revoke',
} as const satisfies Record<string, LocalPath>;

export type PagePattern = (typeof pages)[keyof typeof pages];

/** The parameters that a pattern names, such as `id` of `/profile/sessions/:id/revoke`. */
type ParamsOf<Pattern extends string> = Pattern extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<`/${Rest}`>
  : Pattern extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

type Query = Readonly<Record<string, string | undefined>>;

/** The address of a page: its parameters fill the path, and the query follows. Undefined members of the query are left out. */
export function pagePath<Pattern extends PagePattern>(
  pattern: Pattern,
  ...[params, query]: unknown extends ParamsOf<Pattern>
    ? [params?: Record<string, never>, query?: Query]
    : [params: ParamsOf<Pattern>, query?: Query]
): LocalPath {
  return withQuery(fillPath(pattern, params ?? {}), query);
}

function withQuery(path: LocalPath, query: Query = {}): LocalPath {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return given.length > 0 ? `${path}?${given.join('&')}` : path;
}
