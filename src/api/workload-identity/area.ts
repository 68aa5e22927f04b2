import type { Area } from '#api/web/declarations/area.ts';
import * as identity from './operations.ts';
import { signingKeyPages } from './pages/register.ts';
import * as signingKeys from './signing-key-operations.ts';

export const area: Area = {
  operations: [identity, signingKeys],
  tags: {
    workload_identity: 'How verifiers outside check the tokens of runs.',
    signing_keys: 'The keys by which the service signs the tokens of runs.',
  },
  pages: [...signingKeyPages],
};
