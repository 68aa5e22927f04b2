/** What a mutant changes: another operator, condition, permission or constant, as somebody could have written by mistake. */

/** A place in a source text, and what a mutant writes there. Offsets are those of UTF-8. */
export interface Mutation {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

// biome-ignore lint/suspicious/noExplicitAny: nodes of the syntax tree, whose types tell themselves apart
export type SyntaxNode = any;
/** The text of a node as it stands in the source. */
export type TextOf = (node: { span: { start: number; end: number } }) => string;

const otherOperators: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
};

/** Words of which one in the place of another changes who may do something. */
const groups: readonly (readonly string[])[] = [
  ['owner', 'admin', 'member', 'viewer'],
  ['visible', 'hidden'],
  ['everybody', 'administrators'],
  ['team.read', 'team.metadata.write', 'team.members.manage', 'run.request', 'run.cancel', 'run.approve'],
];
const permission = /^[a-z_]+[:.](?:read|write|manage|create|cancel|approve|delete|use|test|run)$/;

/** The mutations of one node, without those of the nodes within it. */
export function mutationsOf(node: SyntaxNode, textOf: TextOf): Mutation[] {
  const replace = (operator: string, text: string, at = node) => ({ operator, text, ...at.span });
  switch (node.type) {
    case 'BinaryExpression':
      return ofBinary(node, textOf, replace);
    case 'UnaryExpression':
      return node.operator === '!' ? [replace('drop a negation', textOf(node.argument))] : [];
    case 'IfStatement':
    case 'ConditionalExpression':
      return [replace('negate a condition', `!(${textOf(node.test)})`, node.test)];
    case 'BooleanLiteral':
      return [replace('swap a truth value', String(!node.value))];
    case 'NumericLiteral':
      return [replace('change a number', String(node.value + 1))];
    case 'StringLiteral':
      return otherWord(node.value).map((word) => replace('replace a permission or role', `'${word}'`));
    case 'CallExpression':
      return ofCall(node, replace);
    case 'ReturnStatement':
      return node.argument ? [replace('answer nothing', 'return undefined;')] : [];
    default:
      return [];
  }
}

type Replace = (operator: string, text: string, at?: SyntaxNode) => Mutation;

function ofBinary(node: SyntaxNode, textOf: TextOf, replace: Replace): Mutation[] {
  const [left, right] = [textOf(node.left), textOf(node.right)];
  const other = otherOperators[node.operator];
  const isLogical = node.operator === '&&' || node.operator === '||';
  return [
    ...(other ? [replace('flip an operator', `(${left} ${other} ${right})`)] : []),
    ...(isLogical ? [replace('drop the first condition', right), replace('drop the last condition', left)] : []),
  ];
}

function ofCall({ callee }: SyntaxNode, replace: Replace): Mutation[] {
  const name = callee.type === 'MemberExpression' ? callee.property.value : undefined;
  if (name === 'some') return [replace('some for every', 'every', callee.property)];
  return name === 'every' ? [replace('some for every', 'some', callee.property)] : [];
}

function otherWord(word: string): string[] {
  const group = groups.find((each) => each.includes(word));
  if (group) return [group[(group.indexOf(word) + 1) % group.length] ?? word];
  if (!permission.test(word)) return [];
  return [word === 'audit:read' ? 'user:manage' : 'audit:read'];
}
