/** The remedies for a connection that fails, by the code of its error. */
const remedies: readonly (readonly [code: RegExp, remedy: string])[] = [
  [
    /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|CERT_UNTRUSTED|UnknownIssuer/,
    'Its certificate is not signed by a known authority: pass the certificate of its authority as ca',
  ],
  [/^CERT_HAS_EXPIRED/, 'Renew its certificate, and check the clock of this machine'],
  [/^CERT_NOT_YET_VALID/, 'Check the clock of this machine'],
  [/ALTNAME_INVALID/, 'Connect to a name in its certificate, or pass one of those names as servername'],
  [/ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/, 'It asks for a client certificate: pass cert and key'],
  [
    /ALERT_(UNKNOWN_CA|BAD_CERT|(UNSUPPORTED_)?CERT|ACCESS_DENIED|DECRYPT)/,
    'It does not accept the client certificate: pass one as cert that its authority signed and that has not expired',
  ],
  [/KEY_VALUES_MISMATCH/, 'Pass the key that matches cert'],
  [/^ERR_OSSL_/, 'Check ca, cert and key: one of them cannot be read'],
  [/WRONG_VERSION|^EPROTO$/, 'This port speaks another protocol: check protocol and port'],
  [
    /^ECONNRESET$/,
    'Is it running? A broker also closes the connection if the port speaks another protocol: check protocol and port',
  ],
]

/** Why a connection fails, in one line, and the remedy. */
export function explainFailure(error: Error & { code?: unknown; reason?: unknown }): string {
  const code = String(error.code ?? '')
  // The message of OpenSSL contains a line number of its source and an address in memory.
  const text =
    typeof error.reason === 'string' && /error:[\dA-F]{8}:/.test(error.message) ? error.reason : error.message
  const why = text === '' ? code || error.name : text
  const remedy = remedies.find(([pattern]) => pattern.test(code))?.[1]
  const number = typeof error.code === 'number' ? ` (${code})` : ''
  return `${why.replace(/\.$/, '')}${number}. ${remedy ?? 'Is it running, and are the address and the credentials right?'}`
}
