import { nearest } from '#domain/shared/values/near-names.ts';
import { type Reference, toReference } from '../reference-syntax.ts';
import { type Access, accessOf, type Expression, functionNames, isFunction, partsOf, typeNames } from './cel.ts';

/** Collects what a condition reads, and refuses unknown names. */

export interface Names {
  readonly references: Reference[];
  /** The nodes whose status it reads. */
  readonly statuses: Set<string>;
}

/** A name that a condition cannot use. */
export class NameRefused extends Error {}

type Shadowed = ReadonlySet<string>;

/** @throws NameRefused */
export function collectNames(expression: Expression, names: Names, shadowed: Shadowed = new Set()): void {
  const access = accessOf(expression);
  const { exprKind } = expression;
  if (access) collectAccess(access, names, shadowed);
  else if (exprKind.case === 'comprehensionExpr') collectLoop(exprKind.value, names, shadowed);
  else if (exprKind.case === 'selectExpr') collectTest(exprKind.value, names, shadowed);
  else {
    refuseUnknown(exprKind);
    for (const part of partsOf(expression)) collectNames(part, names, shadowed);
  }
}

function refuseUnknown(exprKind: Expression['exprKind']): void {
  if (exprKind.case === 'callExpr') refuseFunction(exprKind.value.function);
  if (exprKind.case !== 'structExpr' || exprKind.value.messageName === '') return;
  throw new NameRefused(`has no type "${exprKind.value.messageName}": write a map such as {"a": 1}`);
}

function collectAccess({ root, steps }: Access, names: Names, shadowed: Shadowed): void {
  if (shadowed.has(root)) return;
  if (typeNames.has(root) && steps.length === 0) return;
  if (root === 'variables' || root === 'nodes') {
    collectRoot(root, steps, names);
    return;
  }
  throw new NameRefused(
    `knows "variables" and "nodes", and nothing called "${root}"; write nodes["a-b"] where a key holds a "-", and texts in quotes`,
  );
}

function collectRoot(root: 'variables' | 'nodes', steps: Access['steps'], names: Names): void {
  const reference = toReference(root, steps);
  if (reference) return void names.references.push(reference);
  const [key, member, more] = steps;
  if (root === 'nodes' && typeof key === 'string' && member === 'status' && more === undefined)
    return void names.statuses.add(key);
  if (root === 'variables') throw new NameRefused('must name a variable: variables.<name>');
  if (typeof key !== 'string') throw new NameRefused(`must name the node: ${readable('<key>')}`);
  const hint = member === undefined ? '; where a key holds a "-", write nodes["a-b"]' : '';
  throw new NameRefused(`must read ${readable(key)}: a node has nothing else${hint}`);
}

function readable(key: string): string {
  return `nodes.${key}.status or nodes.${key}.outputs.<name>`;
}

type Kind<Case extends string> = Extract<Expression['exprKind'], { case: Case }>;

/** `has(a.b)` counts as reading `a.b`. */
function collectTest({ operand, field }: Kind<'selectExpr'>['value'], names: Names, shadowed: Shadowed): void {
  if (!operand) return;
  const inner = accessOf(operand);
  if (inner) collectAccess({ root: inner.root, steps: [...inner.steps, field] }, names, shadowed);
  else collectNames(operand, names, shadowed);
}

/** Collects the names in a loop such as `exists`. The names that the loop declares hide others inside it. */
function collectLoop(loop: Kind<'comprehensionExpr'>['value'], names: Names, shadowed: Shadowed): void {
  const { iterVar, iterVar2, accuVar, iterRange, accuInit, loopCondition, loopStep, result } = loop;
  for (const part of [iterRange, accuInit]) if (part) collectNames(part, names, shadowed);
  const inside = new Set([...shadowed, iterVar, iterVar2, accuVar].filter((name) => name !== ''));
  for (const part of [loopCondition, loopStep, result]) if (part) collectNames(part, names, inside);
}

function refuseFunction(name: string): void {
  if (isFunction(name)) return;
  const near = nearest(name, functionNames());
  throw new NameRefused(`has no function "${name}"${near ? `; did you mean "${near}"?` : ''}`);
}
