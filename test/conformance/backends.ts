import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The service keeps the state itself. By hand, a backend that a configuration declares gives way to a file beside it. */

const declaration = /^\s*(cloud|backend\s+"?[\w-]+"?)\s*\{|"(backend|cloud)"\s*:/m;

/** Whether the root module declares a backend, or HCP Terraform. */
export function declaresBackend(root: string): boolean {
  return readdirSync(root, { withFileTypes: true }).some(
    (entry) =>
      entry.isFile() &&
      /\.(tf|tofu)(\.json)?$/.test(entry.name) &&
      declaration.test(readFileSync(join(root, entry.name), 'utf8')),
  );
}

/** Has the tool keep the state in a file, as both tools' documentation suggests for trying a configuration. */
export function useLocalBackend(root: string): void {
  writeFileSync(join(root, 'zzzzzz_by_hand_override.tf'), 'terraform {\n  backend "local" {}\n}\n');
}
