import type { NavigationEntry } from '../frame/navigation.ts';
import type { PagePattern, ParamsOf } from '../paths.ts';
import type { PageDeclaration, PageHandler, PageOptions } from '../visit/route.ts';

/** The parts of the API that an area adds. `src/api/areas.ts` lists all areas, and the lists of the service are made from them. */
export interface Area {
  /** The modules that declare its operations. */
  readonly operations?: readonly Readonly<Record<string, unknown>>[];
  /** Descriptions of the groups of its operations in the reference, by the part of their ids before the dot. */
  readonly tags?: Readonly<Record<string, string | TagBehind>>;
  readonly pages?: readonly PageDeclaration[];
  /** Its entries of the main navigation. */
  readonly navigation?: readonly NavigationEntry[];
}

/** A group of the reference that follows a group of another area. */
interface TagBehind {
  readonly about: string;
  readonly after: string;
}

/** Declares a page (`GET`) or the handler of a form (`POST`). */
export function page<Pattern extends PagePattern>(
  method: 'GET' | 'POST',
  pattern: Pattern,
  handler: PageHandler<ParamsOf<Pattern>>,
  options?: PageOptions,
): PageDeclaration {
  return (addPage) => addPage(method, pattern, handler, options);
}
