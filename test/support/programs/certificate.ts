import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Writes a certificate that signs itself, for an address of this machine, and its key; answers their paths. */
export function makeCertificate(directory: string, address = '127.0.0.1') {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const subject = ['-subj', `/CN=${address}`, '-addext', `subjectAltName=IP:${address}`];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  execFileSync('openssl', [...args, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  return { key, cert };
}
