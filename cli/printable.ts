/** A port, or the placeholder of a password. */
const port = String.raw`\d{1,5}(?:[/?#,;)"']|\s|$)`
const inAddress = new RegExp(String.raw`\b([a-z][\w+.-]*:\/\/)(?:([^\s/:]+):(?!${port})|:)\S+@`, 'gi')
const byName = /\b(\w*(?:password|passwd|pwd|passphrase|secret|token))=[^\s&]+/gi

/**
 * A foreign text, for a terminal. Messages of drivers contain the given address, with its password, also
 * where that has "/" or "@" in it, which no parser of addresses accepts, and the answers of servers; a terminal would execute an escape
 * sequence in it.
 */
export const printable = (text: string): string =>
  text
    .replace(inAddress, (_all, scheme: string, user = '') => `${scheme}${user}:***@`)
    .replace(byName, '$1=***')
    .replace(/(?![\n\t])\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
