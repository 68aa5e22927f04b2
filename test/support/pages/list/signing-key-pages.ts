import { pages } from '#api/web/paths.ts';
import { type DeclaredPage, declare } from './declared-page.ts';

/** The pages of the keys that sign the tokens of runs. */
export function signingKeyPages(): DeclaredPage[] {
  return [
    declare('signing-keys', pages.signingKeys, { who: 'admin' }),
    declare('signing-keys-refused', pages.signingKeys, { who: 'owner', answers: 403 }),
    declare('signing-keys-rotate', pages.rotateSigningKeys, { who: 'admin' }),
  ];
}
