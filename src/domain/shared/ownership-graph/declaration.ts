import type { Expression, SqlBool } from 'kysely';
import type { Tables } from '#domain/entities.ts';

type TableName = keyof Tables;
type ColumnOf<Table extends TableName> = keyof Tables[Table] & string;

/** Returns a column of a row for a fragment of SQL. */
export type Row<Column extends string> = (column: Column) => Expression<unknown>;

/** A fragment of SQL about one row of the kind's table. */
export type Fragment<Column extends string, Value> = (row: Row<Column>) => Expression<Value>;

/**
 * The declaration of one kind in the `ownership.ts` of its area. Deletion, archiving, transfers and slug history use the declarations of
 * all areas. The compiler checks names of tables and columns; none of them comes from a request.
 */
export type Declaration = { [Table in TableName]: KindOf<Table, ColumnOf<Table>> }[TableName];

/** Any declaration, for code that works with all kinds. */
export type AnyDeclaration = KindOf<string, string>;
export type AnyLink = Link<string>;

interface KindOf<Table extends string, Column extends string> {
  /** The name of the kind in conflicts and in other declarations. */
  readonly kind: string;
  /** The table that has a row for each of the kind. */
  readonly table: Table;
  /** The columns that identify a row, by which conflicts are ordered; `id` by default. */
  readonly key?: readonly Column[];
  /** The kind that it extends, with the same `id` and shared columns. For example, a user extends a principal. */
  readonly extends?: string;
  /** The column or the text that names a thing of the kind in conflicts; the label of the kind that it extends by default. */
  readonly label?: Column | Fragment<Column, string>;
  /** Its row counts its changes in `revision`. */
  readonly revision?: true;
  /** Its row counts in `eligibility_generation` the changes that void all earlier grants. */
  readonly generation?: true;
  /** Deleting it leaves its row as a tombstone, with the time in `deletedAt`. */
  readonly tombstone?: true;
  /** Once it is deleted, nobody can read it. Deleted things of other kinds stay readable for those who could read them before. */
  readonly hiddenWhenDeleted?: true;
  /** It can be archived, with the time in `archivedAt`. */
  readonly archivable?: true;
  /** It can be disabled by `enabled`, and deleting it disables it. */
  readonly disableable?: true;
  /**
   * The system action that disables it when its project or team is transferred: it sends to receivers that the former owners chose and the
   * new owners have not approved. Every kind of an owner that can be enabled declares it, and has `isEnabled` and `disabledReason`.
   */
  readonly disabledByTransfer?: string;
  /** The condition under which a principal counts as an owner of things that must have one. */
  readonly ableToOwn?: Fragment<Column, SqlBool>;
  /** It has a `slug`. */
  readonly slug?: Slug;
  /** Its owners, the nearest first. A thing is below all its owners, and below theirs. */
  readonly owners?: readonly Link<Column>[];
  /** Its other references, such as the principals who made or changed it. */
  readonly references?: readonly Link<Column>[];
  /** Rows that show that all their owners, at every level, are in use. */
  readonly uses?: readonly Use<Column>[];
}

/** The rules for the slugs of a kind. */
export interface Slug {
  /** The unique constraint on the slug within its owner. */
  readonly constraint: string;
  /** The text of the conflict, with `{slug}` for the slug; by default it says that the slug is taken in its owner. */
  readonly taken?: string;
  /** The kind that keeps its current and earlier slugs. An earlier slug still names it until it is deleted. */
  readonly history?: string;
}

interface LinkTarget<Column extends string> {
  /** The kind of the thing that the column names. */
  readonly kind: string;
  /** The columns that can name it; a row names it if one of them does. */
  readonly columns: readonly Column[];
  /** The condition that the row names the thing with an id, if no column holds that id by itself. */
  readonly matches?: (row: Row<Column>, id: string) => Expression<SqlBool>;
  /**
   * A denormalized owner id: the owner of the `follows` owner. It gets the new owner's id when something in between is
   * transferred.
   */
  readonly follows?: string;
  /** The effect of a transfer of the named thing on the row: it raises revision and generation, or ends the row. */
  readonly onTransfer?: 'revised' | Cascade<Column>;
}

/** What happens when the named thing is deleted: the deletion is refused, the row ends with it, or the row is kept. */
type Consequence<Column extends string> =
  | { readonly blocker: Blocker<Column>; readonly cascade?: Cascade<Column>; readonly kept?: string }
  | { readonly blocker?: Blocker<Column>; readonly cascade: Cascade<Column>; readonly kept?: never }
  | { readonly blocker?: Blocker<Column>; readonly cascade?: never; readonly kept: string };

/** A column that names an owner, a principal or something else, and what happens to the row when that is deleted. */
export type Link<Column extends string> = LinkTarget<Column> & Consequence<Column>;

/** A row that prevents a change while it exists. Conflicts read "the team <message>: <names>; <remedy>". */
export interface Blocker<Column extends string> {
  /** The predicate of the conflict, such as "has projects". */
  readonly message: string;
  /** What removes it, such as "delete or transfer them first". */
  readonly remedy: string;
  /** The condition under which a row counts; every row does by default. */
  readonly when?: Fragment<Column, SqlBool>;
  /** The kinds whose labels name it in the conflict, outermost first: its own kind or owners; by default its own kind. */
  readonly names?: readonly string[];
  /** The text between those labels; "/" by default. */
  readonly separator?: string;
  /**
   * By default, rows count unless something that the conflict names is deleted. `active` also ignores rows of archived things;
   * `deleted` counts every row.
   */
  readonly includes?: 'active' | 'deleted';
  /** It prevents only the deletion of this kind of principal. */
  readonly onlyOf?: string;
  /**
   * Ignored if another eligible principal has the same role there. The owners are locked first, so that those principals keep
   * their roles.
   */
  readonly unlessShared?: true;
  /** It prevents archiving the named thing as well. */
  readonly preventsArchiving?: true;
}

/** A blocker of changes to owners at every level. */
export interface Use<Column extends string> extends Blocker<Column> {
  /** The changes that it prevents. It prevents a transfer only if the transfer changes a column of its kind. */
  readonly prevents: readonly ('deletion' | 'archiving' | 'transfer')[];
  /** Counts only if both rows have the same `sharing` owner, which the transfer would separate. */
  readonly tiedTo?: { readonly kind: string; readonly sharing: string };
}

/** What happens to a row when the thing that it belongs to ends. */
export type Cascade<Column extends string> =
  | { readonly rows: 'deleted' }
  | {
      /** The row stays, and the list of ids in the column `from` loses the thing. A list that becomes empty does not become null. */
      readonly rows: 'unlisted';
      readonly from: Column;
      /** The transfer of any owner of the thing, at every level, also removes it from the list. */
      readonly withOwner?: true;
    }
  | {
      /** The rows stay, and the time of their end is written to the column `at`. */
      readonly rows: 'ended';
      readonly at: Column;
      /** The condition of the rows that have not ended. */
      readonly when: Fragment<Column, SqlBool>;
      /** Whether ending them raises their revision. */
      readonly revised?: true;
      /** The transfer of any owner of the thing, at every level, ends them as well. */
      readonly withOwner?: true;
    };
