import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  type OperationNode,
  PostgresQueryCompiler,
  RawNode,
  ReferenceNode,
  ReturningNode,
  SelectAllNode,
  type SelectionNode,
  SelectQueryNode,
} from 'kysely';

/** A name of the code as the database and the API write it: `team_id` for `teamId`. Capitals in a row begin one word. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(
    /([a-z0-9])([A-Z]+)/g,
    (_, before: string, capitals: string) => `${before}_${capitals.toLowerCase()}`,
  );
}

const columns = new Map<string, string>();

/** `toSnakeCase` of a name in a statement. All of these are names of the code, so there are few enough to keep them. */
function columnOf(name: string): string {
  const known = columns.get(name) ?? toSnakeCase(name);
  columns.set(name, known);
  return known;
}

/**
 * Writes statements over tables whose columns have, in code, the names of their entities' properties. The text has the column names of the
 * database, and rows come back with the names of the code. So no row needs a conversion, as with Kysely's plugin.
 *
 * A subquery keeps the names of the database, because the outer query refers to them. Objects that a raw fragment builds have the names of
 * the code, like rows: `jsonObjectFrom` is an example.
 */
export class ColumnNamingCompiler extends PostgresQueryCompiler {
  protected override sanitizeIdentifier(identifier: string): string {
    return super.sanitizeIdentifier(columnOf(identifier));
  }

  protected override visitSelection(node: SelectionNode): void {
    const { selection } = node;
    const isAnswer = this.isAnswer();
    if (isAnswer && isOfAll(selection)) throw new Error('name the columns: `*` has the names of the database');
    const name = isAnswer ? nameOf(selection) : undefined;
    if (name === undefined || name === columnOf(name)) {
      super.visitSelection(node);
      return;
    }
    this.visitNode(AliasNode.is(selection) ? selection.node : selection);
    this.append(` as "${super.sanitizeIdentifier(name)}"`);
  }

  /** Whether the current selection belongs to a query whose rows go to code, not to another query. */
  private isAnswer(): boolean {
    const list = this.nodeStack.at(-2);
    if (list === undefined || !(SelectQueryNode.is(list) || ReturningNode.is(list))) return false;
    const around = this.nodeStack.at(SelectQueryNode.is(list) ? -3 : -4);
    return around === undefined || RawNode.is(around);
  }
}

/** The names of the columns that a query returns, in their order. @throws Error for another statement, or a column without a name */
export function columnsOf(query: OperationNode): string[] {
  const selections = SelectQueryNode.is(query) ? query.selections : undefined;
  if (!selections) throw new Error('only a query has columns');
  return selections.map(({ selection }) => {
    const name = nameOf(selection);
    if (name === undefined) throw new Error('name all columns of the query');
    return name;
  });
}

function isOfAll(selection: OperationNode): boolean {
  return SelectAllNode.is(selection) || (ReferenceNode.is(selection) && SelectAllNode.is(selection.column));
}

/** The name of a selection in a row; undefined for all columns and for raw names. */
function nameOf(selection: OperationNode): string | undefined {
  if (AliasNode.is(selection)) return IdentifierNode.is(selection.alias) ? selection.alias.name : undefined;
  const column = ReferenceNode.is(selection) ? selection.column : selection;
  return ColumnNode.is(column) ? column.column.name : undefined;
}
