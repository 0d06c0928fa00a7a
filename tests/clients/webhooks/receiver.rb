# Takes Trapline's webhooks: ruby receiver.rb, with WEBHOOK_SECRET and PORT set.
require "json"
require "openssl"
require "socket"

SECRET = ENV.fetch("WEBHOOK_SECRET") # all of it, with whsec_
TOLERANCE = 300 # seconds

# Whether the body, as it came, was signed with the secret, and lately.
def genuine?(secret, timestamp, signature, body)
  return false unless timestamp.match?(/\A\d+\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > TOLERANCE

  wanted = "sha256=" + OpenSSL::HMAC.hexdigest("SHA256", secret, "#{timestamp}.".b + body.b)
  OpenSSL.secure_compare(wanted, signature)
end

def receive(client)
  client.gets
  headers = {}
  while (line = client.gets&.chomp) && !line.empty?
    name, value = line.split(":", 2)
    headers[name.downcase] = value.to_s.strip
  end
  body = client.read(headers.fetch("content-length", "0").to_i) || ""
  timestamp = headers.fetch("x-webhook-timestamp", "")
  signature = headers.fetch("x-webhook-signature", "")
  return "401 Unauthorized" unless genuine?(SECRET, timestamp, signature, body)

  event = JSON.parse(body)
  # Deliveries may come twice: the message's id tells whether this one did.
  puts "#{event["event"]} #{event["message"]["id"]}"
  "204 No Content"
end

$stdout.sync = true
server = TCPServer.new("127.0.0.1", ENV.fetch("PORT", "8080").to_i)
puts "listening #{server.addr[1]}"
loop do
  client = server.accept
  client.write("HTTP/1.1 #{receive(client)}\r\nConnection: close\r\n\r\n")
  client.close
end
