// The script of the GraphiQL page. Queries go to the address of the page; subscriptions read the event stream by `fetch`, since
// `EventSource` cannot use POST.
const url = location.pathname

async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += value
      const messages = text.split('\n\n')
      text = messages.pop()
      for (const message of messages) {
        if (message.startsWith('event: complete')) return
        const data = message.split('\n').find((line) => line.startsWith('data: '))
        if (message.startsWith('event: next') && data) yield JSON.parse(data.slice(6))
      }
    }
  } finally {
    await reader.cancel()
  }
}

function isSubscription(query, operationName) {
  const operations = query.matchAll(/^\s*(query|mutation|subscription)\b\s*(\w*)/gm)
  for (const [, type, name] of operations) {
    if (!operationName || name === operationName) return type === 'subscription'
  }
  return false
}

async function fetcher(asked, options) {
  const streams = isSubscription(asked.query, asked.operationName)
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(asked),
    headers: {
      'graphql-require-preflight': '1',
      ...options?.headers,
      'content-type': 'application/json',
      accept: streams ? 'text/event-stream' : 'application/graphql-response+json, application/json;q=0.9',
    },
  })
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
  return isStream ? events(response) : response.json()
}

const asked = new URLSearchParams(location.search)
const given = Object.fromEntries(
  ['query', 'variables', 'operationName'].filter((name) => asked.has(name)).map((name) => [name, asked.get(name)]),
)
const root = ReactDOM.createRoot(document.getElementById('graphiql'))
root.render(React.createElement(GraphiQL, { fetcher, defaultEditorToolsVisibility: true, ...given }))
