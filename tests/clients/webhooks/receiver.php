<?php
// Takes Trapline's webhooks: php -S 127.0.0.1:8080 receiver.php, with WEBHOOK_SECRET set.

const TOLERANCE = 300; // seconds

/** Whether the body, as it came, was signed with the secret, and lately. */
function is_genuine(string $secret, string $timestamp, string $signature, string $body): bool
{
    if (!ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE) {
        return false;
    }
    $wanted = 'sha256=' . hash_hmac('sha256', $timestamp . '.' . $body, $secret);
    return hash_equals($wanted, $signature);
}

$body = file_get_contents('php://input');
$timestamp = $_SERVER['HTTP_X_WEBHOOK_TIMESTAMP'] ?? '';
$signature = $_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? '';
$secret = getenv('WEBHOOK_SECRET'); // all of it, with whsec_

if (!is_genuine($secret, $timestamp, $signature, $body)) {
    http_response_code(401);
    exit;
}
$event = json_decode($body, true);
// Deliveries may come twice: the message's id tells whether this one did.
error_log($event['event'] . ' ' . $event['message']['id']);
http_response_code(204);
