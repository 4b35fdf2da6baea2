/** A port, or what stands in place of a password. */
const port = String.raw`\d{1,5}(?:[/?#,;)"']|\s|$)`
const inAddress = new RegExp(String.raw`\b([a-z][\w+.-]*:\/\/)(?:([^\s/:]+):(?!${port})|:)\S+@`, 'gi')
const byName = /\b(\w*(?:password|passwd|pwd|passphrase|secret|token))=[^\s&]+/gi

/**
 * A text that others have made, for a terminal. Messages of drivers carry the address that they were given, with its password, also
 * where that has "/" or "@" in it, which no parser of addresses takes, and what a server has answered; a terminal would obey an escape
 * sequence in it.
 */
export const printable = (text: string): string =>
  text
    .replace(inAddress, (_all, scheme: string, user = '') => `${scheme}${user}:***@`)
    .replace(byName, '$1=***')
    .replace(/(?![\n\t])\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
