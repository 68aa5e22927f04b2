import type { Tables } from '#domain/entities.ts';
import type { SealContext } from '../secrets.ts';

/** A column whose values the key ring has sealed, as its area declares it: a rotation of keys seals each of them again. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The columns that identify a row. */
  readonly key: readonly string[];
  /** What a value belongs to, from the row's key and `from`. It is the context with which the area opens the value. */
  readonly context: (row: Readonly<Record<string, unknown>>) => SealContext;
  /** Other columns that the context needs. */
  readonly from?: readonly string[];
  /** Values may be megabytes large, so few rows are read at once. */
  readonly isLarge?: true;
}

type ColumnOf<Table extends keyof Tables> = keyof Tables[Table] & string;

/** Declares a sealed column. The compiler checks the names of the table and its columns. */
export function sealedColumn<
  Table extends keyof Tables & string,
  Key extends ColumnOf<Table>,
  From extends ColumnOf<Table> = never,
>(declaration: {
  readonly table: Table;
  readonly column: ColumnOf<Table>;
  readonly key: readonly Key[];
  readonly from?: readonly From[];
  readonly context: (row: Readonly<Record<Key | From, string>>) => SealContext;
  readonly isLarge?: true;
}): SealedColumn {
  return { ...declaration, context: declaration.context as SealedColumn['context'] };
}
