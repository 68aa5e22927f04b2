import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Writes a certificate that signs itself, for 127.0.0.1, and its key; answers their paths. */
export function makeCertificate(directory: string) {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  execFileSync('openssl', [...args, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  return { key, cert };
}
