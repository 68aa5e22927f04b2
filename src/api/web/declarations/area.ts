import type { NavigationEntry } from '../frame/navigation.ts';
import type { PagePattern, ParamsOf } from '../paths.ts';
import type { AddPage, PageHandler, PageOptions } from '../visit/route.ts';

/** What an area of the API adds to the service. `src/api/areas.ts` lists all areas, and the lists of the service are made from them. */
export interface Area {
  /** The modules that declare its operations. */
  readonly operations?: readonly Readonly<Record<string, unknown>>[];
  /** What the groups of its operations in the reference are about, by the part of their ids before the dot. */
  readonly tags?: Readonly<Record<string, string | TagBehind>>;
  readonly pages?: readonly PageDeclaration[];
  /** Its entries of the main navigation. */
  readonly navigation?: readonly NavigationEntry[];
}

/** A group of the reference that stands behind a group of another area. */
interface TagBehind {
  readonly about: string;
  readonly after: string;
}

/** Adds a page, a form, or several that belong together. */
type PageDeclaration = (addPage: AddPage) => void;

/** Declares a page (`GET`), or what receives a form (`POST`). */
export function page<Pattern extends PagePattern>(
  method: 'GET' | 'POST',
  pattern: Pattern,
  handler: PageHandler<ParamsOf<Pattern>>,
  options?: PageOptions,
): PageDeclaration {
  return (addPage) => addPage(method, pattern, handler, options);
}
