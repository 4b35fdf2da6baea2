import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** A certificate for `localhost` that is its own authority, and one of a client that it has signed. */
export interface Certificates {
  readonly ca: string
  readonly clientCert: string
  readonly clientKey: string
  /** Lines of mosquitto's configuration after a `listener`. */
  readonly lines: readonly string[]
  /** The same with a certificate for another host, or an expired one. */
  linesFor(host: string, time?: 'expired'): readonly string[]
  remove(): void
}

export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'framework-mqtt-tls-'))
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore', cwd: folder })
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const forHost = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  openssl(
    'req',
    '-x509',
    ...curve,
    '-days',
    '2',
    '-keyout',
    'key.pem',
    '-out',
    'cert.pem',
    '-subj',
    '/CN=localhost',
    ...forHost,
  )
  openssl('req', '-new', ...curve, '-keyout', 'client-key.pem', '-out', 'client.csr', '-subj', '/CN=client')
  const byAuthority = ['-CA', 'cert.pem', '-CAkey', 'key.pem', '-CAcreateserial', '-days', '2']
  openssl('x509', '-req', '-in', 'client.csr', ...byAuthority, '-out', 'client-cert.pem')
  writeFileSync(file('serial'), '01\n')
  writeFileSync(file('index.txt'), '')
  writeFileSync(file('ca.cnf'), expiredAuthority)
  let count = 0
  const linesFor = (host: string, time?: 'expired'): string[] => {
    const name = `server-${++count}`
    openssl('req', '-new', ...curve, '-keyout', `${name}-key.pem`, '-out', `${name}.csr`, '-subj', `/CN=${host}`)
    writeFileSync(file(`${name}.ext`), `subjectAltName=DNS:${host}`)
    const files = ['-in', `${name}.csr`, '-extfile', `${name}.ext`, '-out', `${name}.pem`]
    // Only some versions of `x509` accept an end before the start.
    if (time === 'expired') openssl('ca', '-batch', '-config', 'ca.cnf', ...files)
    else openssl('x509', '-req', ...byAuthority, ...files)
    return [`cafile ${file('cert.pem')}`, `certfile ${file(`${name}.pem`)}`, `keyfile ${file(`${name}-key.pem`)}`]
  }
  const read = (name: string) => readFileSync(file(name), 'utf8')
  return {
    ca: read('cert.pem'),
    clientCert: read('client-cert.pem'),
    clientKey: read('client-key.pem'),
    lines: [`cafile ${file('cert.pem')}`, `certfile ${file('cert.pem')}`, `keyfile ${file('key.pem')}`],
    linesFor,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The authority above, as the configuration of `openssl ca`. */
const expiredAuthority = `
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
certificate = cert.pem
private_key = key.pem
default_md = sha256
default_startdate = 20200101000000Z
default_enddate = 20200102000000Z
policy = any
[any]
commonName = supplied
`
