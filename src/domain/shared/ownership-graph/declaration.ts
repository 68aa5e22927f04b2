/**
 * What an area says of its kinds in its `ownership.ts`. Deletion, archiving, transfers and slug history walk these
 * declarations, all of which `src/domain/ownership.ts` lists. Names of tables and columns, and fragments of SQL, are
 * constants and never come from a request. A fragment calls the row of its own table `x`.
 */
export interface Declaration {
  /** What conflicts call one of the kind, and what other declarations call it. */
  readonly kind: string;
  /** The table that has a row for each of the kind. */
  readonly table: string;
  /** The columns that identify a row, which conflicts are ordered by; `id` unless given. */
  readonly key?: readonly string[];
  /** The kind whose row has the same `id` and holds the rest of this one: a user is a principal. */
  readonly is?: string;
  /** SQL expression for what conflicts call a thing of the kind; the label of `is` unless given. */
  readonly label?: string;
  /** Its row counts its changes in `revision`. */
  readonly revision?: true;
  /** Its row counts in `eligibility_generation` the changes after which nothing granted before holds any more. */
  readonly generation?: true;
  /** Deleting it leaves its row as a tombstone, with the time in `deleted_at`. */
  readonly tombstone?: true;
  /** It can be archived, with the time in `archived_at`. */
  readonly archivable?: true;
  /** It can be disabled by `enabled`, and deleting it disables it. */
  readonly disableable?: true;
  /** SQL condition under which a principal can be the owner that something must have. */
  readonly ableToOwn?: string;
  /** It has a `slug`. */
  readonly slug?: Slug;
  /** What owns it, nearest owner first. Something is below all its owners, and below theirs. */
  readonly owners?: readonly Link[];
  /** What it refers to besides, such as the principals who made or changed it. */
  readonly references?: readonly Link[];
  /** What shows that all its owners, at every level, are in use. */
  readonly uses?: readonly Use[];
}

/** How a slug is kept free of conflicts. */
export interface Slug {
  /** The constraint that a second one in the same place breaks. */
  readonly constraint: string;
  /** What the conflict says, with `{slug}` for the slug; that it is taken in its owner unless given. */
  readonly taken?: string;
  /** The kind that holds each slug that it has or had; such a slug goes on naming it until it is deleted. */
  readonly history?: string;
}

interface LinkTarget {
  /** The kind that the column names one of. */
  readonly kind: string;
  /** The columns that name it; one of them is enough. */
  readonly columns: readonly string[];
  /** SQL condition with one parameter, its id, where no column by itself holds that. */
  readonly matches?: string;
  /**
   * The column copies an owner of an owner: whatever owns what `follows` names, which is one of the owners here. It gets
   * the new owner's id when something in between is transferred.
   */
  readonly follows?: string;
  /** What the transfer of the named one does to this one: raises its revision and generation, or ends it. */
  readonly onTransfer?: 'revised' | Cascade;
}

/** What the deletion of the named one does: it is refused, or this one goes with it, or this one is kept. */
type Consequence =
  | { readonly blocker: Blocker; readonly cascade?: Cascade; readonly kept?: string }
  | { readonly blocker?: Blocker; readonly cascade: Cascade; readonly kept?: never }
  | { readonly blocker?: Blocker; readonly cascade?: never; readonly kept: string };

/** A column that names an owner, a principal or something else, and what becomes of the row when that is deleted. */
export type Link = LinkTarget & Consequence;

/** Something that prevents a change while there is any. Conflicts read "the team <says>: <names>; <remedy>". */
export interface Blocker {
  /** The predicate of the conflict, such as "has projects". */
  readonly says: string;
  /** What removes it, such as "delete or transfer them first". */
  readonly remedy: string;
  /** SQL condition under which a row counts; every row does unless given. */
  readonly while?: string;
  /** The kinds by whose labels the conflict names it, outermost first: itself, unless given, or owners of it. */
  readonly names?: readonly string[];
  /** What stands between those labels; "/" unless given. */
  readonly separator?: string;
  /** Whether it counts while those that the conflict names are deleted or archived; only undeleted ones do unless given. */
  readonly counts?: 'active' | 'deleted too';
  /** It prevents the deletion of this kind of principal alone. */
  readonly onlyOf?: string;
  /**
   * It does not count where another principal who is able to own has such a row of the same owner. The owners are locked
   * before, so that those principals stay what they are.
   */
  readonly unlessShared?: true;
}

/** A blocker of changes to owners at every level. */
export interface Use extends Blocker {
  /** What it prevents: a transfer only where that changes a column of its kind. */
  readonly prevents: readonly ('deletion' | 'archiving' | 'transfer')[];
  /** It counts only where it refers to one of this kind that `sharing` owns as well, so that they would part. */
  readonly tiedTo?: { readonly kind: string; readonly sharing: string };
}

/** How a row goes with what it belongs to. */
export type Cascade =
  | { readonly rows: 'deleted' }
  | {
      /** The rows stay, and their end is written to the column `at`. */
      readonly rows: 'ended';
      readonly at: string;
      /** SQL condition on the rows that have not ended. */
      readonly while: string;
      /** Whether that raises their revision. */
      readonly revised?: true;
    };
