import type { NavigationEntry } from '../frame/navigation.ts';
import type { AddPage } from '../visit/route.ts';

/** What an area of the API adds to the service. `src/api/areas.ts` lists all areas, and the lists of the service are made from them. */
export interface Area {
  /** The modules that declare its operations. */
  readonly operations?: readonly Readonly<Record<string, unknown>>[];
  /** What the groups of its operations in the reference are about, by the part of their ids before the dot. */
  readonly tags?: Readonly<Record<string, string | TagBehind>>;
  /** Each adds pages and forms. */
  readonly pages?: readonly ((addPage: AddPage) => void)[];
  /** Its entries of the main navigation. */
  readonly navigation?: readonly NavigationEntry[];
}

/** A group of the reference that stands behind a group of another area. */
interface TagBehind {
  readonly about: string;
  readonly after: string;
}
