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

const snakeCased = new Map<string, string>();

/** The column of a property, as MikroORM names it: `team_id` of `teamId`. */
export function toSnakeCase(name: string): string {
  let known = snakeCased.get(name);
  if (known === undefined) {
    known = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeCased.set(name, known);
  }
  return known;
}

/**
 * Writes statements over tables whose columns code names like the properties of their entities. The text has the columns of the
 * database, and rows come back with the names of the code. So nothing has to convert each row, as Kysely's plugin would.
 *
 * A query inside another one keeps the names of the database, because the outer one refers to them. What a raw fragment
 * encloses answers as rows do: `jsonObjectFrom` makes an object with the names of the code.
 */
export class ColumnNamingCompiler extends PostgresQueryCompiler {
  protected override sanitizeIdentifier(identifier: string): string {
    return super.sanitizeIdentifier(toSnakeCase(identifier));
  }

  protected override visitSelection(node: SelectionNode): void {
    const { selection } = node;
    const isAnswer = this.isAnswer();
    if (isAnswer && isOfAll(selection)) throw new Error('name the columns: `*` has the names of the database');
    const name = isAnswer ? nameOf(selection) : undefined;
    if (name === undefined || name === toSnakeCase(name)) {
      super.visitSelection(node);
      return;
    }
    this.visitNode(AliasNode.is(selection) ? selection.node : selection);
    this.append(` as "${super.sanitizeIdentifier(name)}"`);
  }

  /** Whether the selection that is being written is one of a query that answers rows to code, not to another query. */
  private isAnswer(): boolean {
    const list = this.nodeStack.at(-2);
    if (list === undefined || !(SelectQueryNode.is(list) || ReturningNode.is(list))) return false;
    const around = this.nodeStack.at(SelectQueryNode.is(list) ? -3 : -4);
    return around === undefined || RawNode.is(around);
  }
}

function isOfAll(selection: OperationNode): boolean {
  return SelectAllNode.is(selection) || (ReferenceNode.is(selection) && SelectAllNode.is(selection.column));
}

/** The name that a selection has in a row; undefined for all columns and for raw names. */
function nameOf(selection: OperationNode): string | undefined {
  if (AliasNode.is(selection)) return IdentifierNode.is(selection.alias) ? selection.alias.name : undefined;
  const column = ReferenceNode.is(selection) ? selection.column : selection;
  return ColumnNode.is(column) ? column.column.name : undefined;
}
