import type { Mutant } from './places.ts';

/** Mutants that nobody can tell from the original, with the reason. A mutant is known by its file, its line of code, and what it writes in the place of what. */
const equivalent: readonly (Pick<Mutant, 'file' | 'code' | 'before' | 'text'> & { readonly reason: string })[] = [
  {
    file: 'src/domain/assemblies/spec/text/yaml-limits.ts',
    code: 'const maxParts = 3 * maxValues;',
    before: '3',
    text: '4',
    reason:
      'a text between both bounds is parsed first, and then refused for the number of its values with the same words',
  },
  {
    file: 'src/domain/assemblies/spec/text/yaml-limits.ts',
    code: 'if (!isScalar(node) && !isCollection(node)) return { size: 0, depth: 0 };',
    before: '0',
    text: '1',
    reason:
      'an absent value counts as a value then, which only brings a text nearer to a limit that no absent values reach',
  },
  {
    file: 'src/domain/drift/findings/suppression.ts',
    code: "if (status !== 'resolved') return null;",
    before: 'return null;',
    text: 'return undefined;',
    reason: 'those who ask what stands in the way take undefined as null: nothing does',
  },
  {
    file: 'src/domain/runs/steps/obstacles.ts',
    code: 'if (!hold) return null;',
    before: 'return null;',
    text: 'return undefined;',
    reason: 'those who ask what stands in the way take undefined as null: nothing does',
  },
  {
    file: 'src/domain/news/model.ts',
    code: 'return Object.hasOwn(declared, kind) && declared[kind]?.toUsers !== undefined;',
    before: 'Object.hasOwn(declared, kind) && declared[kind]?.toUsers !== undefined',
    text: 'declared[kind]?.toUsers !== undefined',
    reason: 'nothing that every object has has such a member',
  },
  {
    file: 'src/domain/news/model.ts',
    code: 'return Object.hasOwn(declared, kind) && declared[kind]?.toChannels !== undefined;',
    before: 'Object.hasOwn(declared, kind) && declared[kind]?.toChannels !== undefined',
    text: 'declared[kind]?.toChannels !== undefined',
    reason: 'nothing that every object has has such a member',
  },
  {
    file: 'src/domain/runs/steps/next-step.ts',
    code: "return { ...(obstacle ?? { kind: 'execute', phase }), ...(closes && { closes }) };",
    before: 'closes && { closes }',
    text: '{ closes }',
    reason: 'a member that is undefined is as good as none',
  },
];

/** Why a mutant changes nothing; undefined if it does, or if nobody has looked at it. */
export function reasonOfEquivalence({ file, code, before, text }: Mutant): string | undefined {
  return equivalent.find(
    (each) => each.file === file && each.code === code && each.before === before && each.text === text,
  )?.reason;
}
