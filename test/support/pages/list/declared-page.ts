import { type LocalPath, type PagePattern, type ParamsOf, pagePath, type Query } from '#api/web/paths.ts';
import type { PersonKey } from '../people.ts';

/** A page in one state, as somebody sees it. */
export interface DeclaredPage {
  /** Names its pictures, and tests. */
  readonly name: string;
  readonly pattern: PagePattern;
  /** Who looks at it; null: somebody who is not signed in. */
  readonly who: PersonKey | null;
  readonly address: LocalPath;
  /** The status of its answer. */
  readonly answers: number;
  /** Whether the documentation has pictures of it. */
  readonly isPictured: boolean;
}

type View<Pattern extends PagePattern> = {
  readonly query?: Query;
  readonly who?: PersonKey | null;
  readonly answers?: number;
  readonly isPictured?: boolean;
} & (unknown extends ParamsOf<Pattern> ? { readonly params?: never } : { readonly params: ParamsOf<Pattern> });

/** Declares a page. Unless given, the reviewer of Northwind looks at it, and it answers 200. */
export function declare<Pattern extends PagePattern>(
  name: string,
  pattern: Pattern,
  ...[view]: unknown extends ParamsOf<Pattern> ? [view?: View<Pattern>] : [view: View<Pattern>]
): DeclaredPage {
  const {
    query = {},
    params = {},
    who = 'reviewer',
    answers = 200,
    isPictured = false,
  } = (view ?? {}) as {
    query?: Query;
    params?: object;
    who?: PersonKey | null;
    answers?: number;
    isPictured?: boolean;
  };
  const address = (pagePath as (pattern: string, params: object, query: Query) => LocalPath)(pattern, params, query);
  return { name, pattern, who, address, answers, isPictured };
}
