/** A port: the part before it is a host and not a user, so it is not a password. */
const port = String.raw`\d{1,5}(?:[/?#,;)"']|\s|$)`
const inAddress = new RegExp(String.raw`\b([a-z][\w+.-]*:\/\/)(?:([^\s/:]+):(?!${port})|:)\S+@`, 'gi')
const byName = /\b(\w*(?:password|passwd|pwd|passphrase|secret|token))=[^\s&]+/gi

/** A word as a shell takes it. */
export const shellWord = (word: string): string =>
  /^[\w./@:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/**
 * A string from elsewhere, for a terminal. Messages of drivers contain the given address with its password, even if that has
 * "/" or "@" in it, which no address parser accepts, and the responses of servers; a terminal would execute an escape sequence in them.
 */
export const printable = (text: string): string =>
  text
    .replace(inAddress, (_all, scheme: string, user = '') => `${scheme}${user}:***@`)
    .replace(byName, '$1=***')
    .replace(/(?![\n\t])\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
