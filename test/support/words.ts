const nouns =
  'address|answer|boolean|callback|contract|controller|error|failure|file|folder|function|header|HTTP|JSON|list|method|name|number|object|option|pattern|plugin|promise|response|route|schema|status|string|success|template|text|type|value'

/** The page of words in CONTRIBUTING.md, as far as a pattern can find it, for every text: pages, messages, comments and names of tests. */
export const wrong: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(?:no|some|every|any)body\b/i, 'no one, someone, everyone, anyone, or who it is'],
  [new RegExp(`(?<!there )\\b(?:is|are) no (?:${nouns})s?\\b(?! (?:one|longer))`, 'i'), 'is not a …'],
  [/\bwhoever\b/i, 'a client that …, callers that …'],
  [/\btold\b|\btells?\b(?! (?:\w+ )+from\b)/i, 'says, reports, lists, distinguishes; receives, is called with'],
  [/\bin front\b/i, 'before'],
  // A server stands behind a proxy, and a clock may be behind.
  [/\bbehind\b(?! (?:an?|the) (?:\w+ )?prox|(?: that of)|;|$)/i, 'after'],
  [/(?<!there )\b(?:is|are) none\b/i, 'is not a …; takes a …, not …'],
  [/\b(?:he|his)\b/, 'they, their'],
  [/\ba mail\b(?! (program|provider|server|client))|\bmails\b/, 'email, emails'],
  [/\b(the (server|handler|route)'s|an empty|a streamed|a cached) answer\b/, 'response'],
  [/\bcensor/i, 'redact'],
]
