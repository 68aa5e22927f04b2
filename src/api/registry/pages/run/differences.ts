import { isDeepStrictEqual } from 'node:util';
import { describeRotated } from '#api/environments/pages/inherited.ts';
import { holdsSecret, type Node, type ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import { fillVariables, readVariables } from '#api/web/forms/schema/variables.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { withDefaults } from '#api/web/forms/schema/with-defaults.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import {
  type ComparedFacts,
  type Deployment,
  type Difference,
  givenTo,
  isMissing,
  staysWhenEmpty,
  type Values,
  whenEmpty,
} from './compared.ts';

/** The changes that a form makes to a deployment. */
export interface DeployedChanges {
  /** The values to send: those that differ from the deployed ones. */
  readonly variables: Values;
  /** The variables whose fields were emptied. */
  readonly omit: readonly string[];
}

/**
 * Finds the changes. The comparison uses the values as the form was filled in, so that parts which a field cannot represent do not count as
 * changes. Defaults of missing members are filled in on both sides, so leaving out such a member is no change either.
 */
export function findChanges({ values, secrets }: Deployment, root: ObjectNode, entered: Values): DeployedChanges {
  const { values: filled } = readVariables(root, fillVariables(root, values));
  const members = new Map(root.members.map((member) => [member.name, member]));
  const inFull = (name: string, value: JsonValue) => {
    const member = members.get(name);
    return member ? withDefaults(member, value) : value;
  };
  const isSame = (name: string) => {
    const [before, after] = [filled[name], entered[name]];
    return before !== undefined && after !== undefined && isDeepStrictEqual(inFull(name, before), inFull(name, after));
  };
  const isChanged = (name: string) => secrets.includes(name) || !isSame(name);
  return {
    variables: Object.fromEntries(Object.entries(entered).filter(([name]) => isChanged(name))),
    omit: Object.keys(filled).filter((name) => Object.hasOwn(values, name) && !Object.hasOwn(entered, name)),
  };
}

/** What was entered into a form for a run. */
export interface Entered {
  readonly values: Values;
  /** The deployed secrets that the form drops. */
  readonly omitted: readonly string[];
}

/** The deployed secrets that the version of the form also declares, and that the environment does not provide. */
function findSecretsNotGiven({ root, inherited }: ComparedFacts, { secrets }: Deployment): Node[] {
  return root.members.filter(({ name }) => secrets.includes(name) && !inherited?.has(slots.member('', name)));
}

/**
 * The deployed secrets that the version of the form also declares, and that did not come from the environment: a person or a request set
 * them.
 */
export function findOwnSecrets({ root, inherited }: ComparedFacts, { secrets, run }: Deployment): Node[] {
  const given = givenTo(run).filter((name) => inherited?.has(slots.member('', name)));
  return root.members.filter(({ name }) => secrets.includes(name) && !given.includes(name));
}

/** Like `findOwnSecrets`, for a run that is copied. */
export function findSecretsToGiveUp(
  { root, inherited }: Pick<ComparedFacts, 'root' | 'inherited'>,
  run: Deployment['run'] & { readonly prefill: { readonly secrets: readonly string[] } | null },
): Node[] {
  const given = givenTo(run).filter((name) => inherited?.has(slots.member('', name)));
  return root.members.filter(({ name }) => run.prefill?.secrets.includes(name) && !given.includes(name));
}

/** What the form's run would change about the deployment, whether the form starts from it or replaces it. */
export function findDifferences(
  facts: ComparedFacts,
  baseline: Deployment,
  { values, omitted }: Entered,
): Difference[] {
  const { root } = facts;
  const { variables, omit } = findChanges(baseline, root, values);
  const members = new Map(root.members.map((member) => [member.name, member]));
  const isSecret = (name: string) => baseline.secrets.includes(name) || isSecretMember(members.get(name));
  const was = wasOf(baseline);
  const after = (name: string, value: JsonValue) => {
    if (!isSecret(name)) return shorten(value);
    return baseline.secrets.includes(name) ? 'a secret, entered again' : 'a new secret';
  };
  const changed = Object.entries(variables).map(
    ([variable, value]): Difference => ({
      variable,
      kind: 'changed',
      before: was(variable),
      after: after(variable, value),
    }),
  );
  const emptied = omit
    .filter((name) => !staysWhenEmpty(facts, baseline, name))
    .map(
      (variable): Difference => ({
        variable,
        kind: isMissing(facts, variable) ? 'missing' : 'emptied',
        before: was(variable),
        ...whenEmpty(facts, variable),
      }),
    );
  const given = findGiven(facts, baseline, values);
  const named = new Set([...changed, ...emptied, ...given].map(({ variable }) => variable));
  const ofVersion = findVersionDifferences(facts, baseline, named);
  const isOther = changesOtherThings(facts, baseline, { values, omitted, changes: named.size + omit.length });
  const asked = isOther ? findKeptOfOthers(facts, baseline, { values, omitted }) : [];
  const left = findSecretsNotGiven(facts, baseline).filter(
    ({ name }) => !Object.hasOwn(values, name) && !asked.some(({ variable }) => variable === name),
  );
  const secrets = [...asked, ...left.flatMap((member) => describeLeftSecret(facts, member, omitted))];
  const replaced = findReplacedSecrets(facts, baseline, { values, omitted });
  return [...changed, ...emptied, ...given, ...secrets, ...replaced, ...ofVersion];
}

/** Whether the form changes the deployment. A secret whose field is empty does not count as a change, but dropping a secret does. */
function changesOtherThings(
  facts: ComparedFacts,
  baseline: Deployment,
  { values, omitted, changes }: Entered & { readonly changes: number },
): boolean {
  const hasRotated = (facts.rotated?.ofBaseline ?? []).some((name) => !Object.hasOwn(values, name));
  const isGivenUp = findOwnSecrets(facts, baseline).some(({ name }) => omitted.includes(name));
  return facts.version?.version !== baseline.version || changes > 0 || hasRotated || isGivenUp;
}

/** The deployed secrets of another person that the form neither enters nor drops. If anything else changes, they must be entered again. */
function findKeptOfOthers(
  { root, deployed, secretsOfOthers = [] }: ComparedFacts,
  { secrets }: Deployment,
  { values, omitted }: Entered,
): Difference[] {
  if (!deployed) return [];
  const isLeft = (name: string) =>
    secretsOfOthers.includes(name) && !Object.hasOwn(values, name) && !omitted.includes(name);
  return root.members
    .filter(({ name }) => secrets.includes(name) && isLeft(name))
    .map(({ name }) => ({ variable: name, kind: 'asked', before: secretWord, after: null }));
}

/** Adds variables whose text is not a valid value. They are neither emptied nor unchanged. */
export function markUnread(
  baseline: Deployment,
  differences: readonly Difference[],
  unread: readonly string[],
): Difference[] {
  const was = wasOf(baseline);
  const isAsked = (name: string) => differences.some(({ variable, kind }) => variable === name && kind === 'asked');
  const names = new Set(unread.filter((name) => !isAsked(name)));
  const invalid = [...names].map(
    (variable): Difference => ({ variable, kind: 'unread', before: was(variable), after: null }),
  );
  return [...invalid, ...differences.filter(({ variable }) => !names.has(variable))];
}

function isSecretMember(member: Node | undefined): boolean {
  return member !== undefined && holdsSecret(member);
}

/** Variables without a deployed value that get one although their fields are empty: from the environment, a variable set or a default. */
function findGiven(facts: ComparedFacts, baseline: Deployment, entered: Values): Difference[] {
  const { root, inherited } = facts;
  const before = new Set(baseline.root.members.map(({ name }) => name));
  const isDeployed = (name: string) => Object.hasOwn(baseline.values, name) || baseline.secrets.includes(name);
  return root.members
    .filter(({ name }) => before.has(name) && !isDeployed(name) && !Object.hasOwn(entered, name))
    .filter(({ name, default: value }) => value !== undefined || inherited?.has(slots.member('', name)))
    .map(({ name }) => ({ variable: name, kind: 'given', before: null, ...whenEmpty(facts, name) }));
}

/** The deployed secrets that the run gets from its environment instead, including those that were rotated there. */
function findReplacedSecrets(
  facts: ComparedFacts,
  { secrets, run }: Deployment,
  { values, omitted }: Entered,
): Difference[] {
  const { ofBaseline = [], ofSource = [] } = facts.rotated ?? {};
  const kept = (facts.source?.prefill?.secrets ?? []).filter(
    (name) => !ofSource.includes(name) && !omitted.includes(name),
  );
  const wasGiven = givenTo(run);
  // A run from a deployment keeps the secrets that the environment has not rotated. A copy keeps the secrets of its source.
  const isKept = (name: string) =>
    facts.deployed ? !omitted.includes(name) && !ofBaseline.includes(name) : kept.includes(name);
  return facts.root.members.flatMap(({ name }): Difference[] => {
    const given = facts.inherited?.get(slots.member('', name));
    if (!given || !secrets.includes(name) || Object.hasOwn(values, name) || isKept(name)) return [];
    const difference = { variable: name, before: secretWord, ...whenEmpty(facts, name) };
    if (ofBaseline.includes(name)) return [{ ...difference, kind: 'rotated', giver: describeRotated(given) }];
    return wasGiven.includes(name) ? [] : [{ ...difference, kind: 'emptied' }];
  });
}

/** Says what the run does with a deployed secret whose field is empty. */
function describeLeftSecret(
  { deployed, source, rotated }: ComparedFacts,
  { name, isRequired, default: value }: Node,
  omitted: readonly string[],
): Difference[] {
  const emptied: Difference = { variable: name, kind: 'emptied', before: secretWord, after: null };
  if (deployed && omitted.includes(name)) return [emptied];
  // The environment provided it, and no longer does.
  if (deployed) return rotated?.ofBaseline.includes(name) ? [{ ...emptied, kind: 'asked' }] : [];
  // A copy keeps the secrets of the run that it repeats.
  if (source?.prefill?.secrets.includes(name) && !omitted.includes(name)) return [];
  return [isRequired && value === undefined ? { ...emptied, kind: 'asked' } : emptied];
}

const secretWord = 'a secret';

function wasOf({ values, secrets }: Deployment) {
  return (name: string): string | null => {
    if (secrets.includes(name)) return secretWord;
    return Object.hasOwn(values, name) ? shorten(values[name] ?? null) : null;
  };
}

/** The changes that come from the version itself. */
function findVersionDifferences(facts: ComparedFacts, baseline: Deployment, named: ReadonlySet<string>): Difference[] {
  const { root } = facts;
  const members = new Map(root.members.map((member) => [member.name, member]));
  const before = new Map(baseline.root.members.map((member) => [member.name, member]));
  const was = wasOf(baseline);
  const added = [...members.values()]
    .filter(({ name }) => !before.has(name) && !named.has(name))
    .map(({ name }): Difference => ({ variable: name, kind: 'added', before: null, ...whenEmpty(facts, name) }));
  const dropped = [...Object.keys(baseline.values), ...baseline.secrets]
    .filter((name) => !members.has(name))
    .map((variable): Difference => ({ variable, kind: 'dropped', before: was(variable), after: null }));
  const redefined = [...members.values()]
    .filter(
      ({ name, schema }) =>
        before.has(name) && !named.has(name) && !isDeepStrictEqual(schema, before.get(name)?.schema),
    )
    .map(({ name }): Difference => ({ variable: name, kind: 'redefined', before: was(name), after: was(name) }));
  return [...added, ...dropped, ...redefined];
}
