const messages = document.querySelector('#messages')
const text = document.querySelector('#text')
const address = new URL('chat', location.href.replace(/^http/, 'ws'))
let socket
let wait = 500

function connect() {
  socket = new WebSocket(address)
  socket.onopen = () => {
    wait = 500
  }
  socket.onmessage = (event) => {
    const { type, data } = JSON.parse(event.data)
    if (type !== 'said') return
    const line = document.createElement('li')
    // Never innerHTML: others have written this.
    line.textContent = `${data.name}: ${data.text}`
    messages.append(line)
  }
  // A deploy ends the connection. All clients reconnect at once if they do not wait for a random time.
  socket.onclose = () => {
    setTimeout(connect, wait * (0.5 + Math.random()))
    wait = Math.min(wait * 2, 30_000)
  }
}

document.querySelector('#form').addEventListener('submit', (event) => {
  event.preventDefault()
  if (socket.readyState !== WebSocket.OPEN) return
  socket.send(JSON.stringify({ type: 'say', data: { name: 'guest', text: text.value } }))
  text.value = ''
})
connect()
